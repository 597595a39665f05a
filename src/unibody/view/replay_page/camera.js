// An orbit camera: it looks at `target` from a distance, at two angles in the axes (right, away, up) of the page. 4 x 4 matrices are in columns.

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const along = (a, s, b) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const unit = (a) => along([0, 0, 0], 1 / Math.hypot(...a), a);

function product(A, B) {
  const out = new Float32Array(16);
  for (let c = 0; c < 4; c++)
    for (let r = 0; r < 4; r++) for (let k = 0; k < 4; k++) out[4 * c + r] += A[4 * k + r] * B[4 * c + k];
  return out;
}

// Axes: right, up, and back (towards the eye).
function viewMatrix(eye, right, up, back) {
  return new Float32Array([right[0], up[0], back[0], 0, right[1], up[1], back[1], 0, right[2], up[2], back[2], 0,
    -dot(right, eye), -dot(up, eye), -dot(back, eye), 1]);
}

class Camera {
  constructor(axes, low, high, angles) {
    this.axes = axes;
    this.home = angles;
    this.fov = 0.55;
    this.aspect = 1;
    this.corners = [];
    for (const x of [low[0], high[0]]) for (const y of [low[1], high[1]]) for (const z of [low[2], high[2]]) this.corners.push([x, y, z]);
    this.middle = [0, 1, 2].map((k) => 0.5 * (low[k] + high[k]));
    this.radius = 0.5 * Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) || 1;
    this.untouched = true;
    this.fit();
  }

  get frame() {
    const [e1, e2, e3] = this.axes, c = Math.cos(this.height);
    const flat = along(along([0, 0, 0], Math.sin(this.turn), e1), -Math.cos(this.turn), e2);
    const back = unit(along(along([0, 0, 0], c, flat), Math.sin(this.height), e3));
    const right = unit(along(along([0, 0, 0], Math.cos(this.turn), e1), Math.sin(this.turn), e2));
    return { right, up: cross(back, right), back };
  }

  get eye() { return along(this.target, this.distance, this.frame.back); }

  // From the home direction, as near as shows every corner of the bounds.
  fit() {
    [this.turn, this.height] = this.home;
    this.target = this.middle;
    const { right, up, back } = this.frame, ty = Math.tan(0.5 * this.fov), tx = ty * this.aspect;
    let left = Infinity, r = -Infinity, bottom = Infinity, top = -Infinity;
    for (let round = 0; round < 4; round++) {
      this.distance = 1e-3 * this.radius;
      for (const corner of this.corners) {
        const d = along(corner, -1, this.target), x = dot(d, right), y = dot(d, up), z = dot(d, back);
        this.distance = Math.max(this.distance, z + 1.12 * Math.abs(x) / tx, z + 1.2 * Math.abs(y) / ty);
      }
      left = bottom = Infinity; r = top = -Infinity;
      for (const corner of this.corners) {
        const d = along(corner, -1, this.target), depth = this.distance - dot(d, back), x = dot(d, right) / depth, y = dot(d, up) / depth;
        left = Math.min(left, x); r = Math.max(r, x); bottom = Math.min(bottom, y); top = Math.max(top, y);
      }
      this.target = along(along(this.target, 0.5 * (left + r) * this.distance, right), 0.5 * (bottom + top) * this.distance, up);
    }
  }

  orbit(dx, dy) {
    this.untouched = false;
    this.turn -= 0.006 * dx;
    this.height = Math.min(1.55, Math.max(-1.55, this.height + 0.006 * dy));
  }

  pan(dx, dy, pixels) {
    this.untouched = false;
    const step = 2 * Math.tan(0.5 * this.fov) * this.distance / pixels, { right, up } = this.frame;
    this.target = along(along(this.target, -dx * step, right), dy * step, up);
  }

  zoom(factor) {
    this.untouched = false;
    this.distance = Math.min(60 * this.radius, Math.max(0.02 * this.radius, this.distance * factor));
  }

  matrix() {
    const { right, up, back } = this.frame, f = 1 / Math.tan(0.5 * this.fov);
    const far = this.distance + 60 * this.radius, near = Math.max(0.01 * this.radius, this.distance - 4 * this.radius);
    const lens = new Float32Array([f / this.aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0]);
    return product(lens, viewMatrix(this.eye, right, up, back));
  }

  // The direction of the ray through a place of the window, both coordinates from -1 to 1.
  ray(x, y) {
    const { right, up, back } = this.frame, ty = Math.tan(0.5 * this.fov);
    return unit(along(along(along([0, 0, 0], x * ty * this.aspect, right), y * ty, up), -1, back));
  }
}
