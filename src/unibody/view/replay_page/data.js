// The embedded recording. The head is JSON; the numbers are one block of sections, [offset, type, count], deflated and in base64.
// A track is a table of 16-bit numbers, one row per quantity and one column per frame, kept as second differences over the frames
// (modulo 2^16), all low bytes before all high bytes; values are centre + step * number.

const head = JSON.parse(document.getElementById("head").textContent);
const byId = (id) => document.getElementById(id);
const TYPES = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i1: Int8Array, u2: Uint16Array, u4: Uint32Array };

async function readBlock() {
  const text = atob(byId("data").textContent.trim());
  const bytes = new Uint8Array(text.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = text.charCodeAt(k);
  byId("data").remove();
  if (head.encoding === "raw") return bytes.buffer;
  if (!globalThis.DecompressionStream) throw new Error("This browser cannot inflate the recording; write the page without compression.");
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

function section(block, name) {
  const [offset, type, count] = head.sections[name];
  return new TYPES[type](block, offset, count);
}

function track(block, name, frames) {
  const bytes = section(block, name), size = bytes.length / 2, out = new Int16Array(size);
  for (let k = 0, value = 0, rate = 0; k < size; k++) {
    if (k % frames === 0) value = rate = 0;
    rate += bytes[k] | (bytes[size + k] << 8);
    value = ((value + rate) << 16) >> 16;
    out[k] = value;
  }
  return out;
}

// Where bodies are at any time: between two frames positions go straight and rotations by the normalised mean of their quaternions.
class Motion {
  constructor(block) {
    this.t = section(block, "t");
    this.frames = this.t.length;
    this.start = this.t[0];
    this.end = this.t[this.frames - 1];
    this.rest = section(block, "rest");
    this.bodies = this.rest.length / 7;
    this.moving = section(block, "moving");
    this.centre = section(block, "centre");
    this.step = section(block, "step");
    this.poses = track(block, "poses", this.frames);
    this.tensions = track(block, "tensions", this.frames);
    this.forces = track(block, "forces", this.frames);
    this.energies = section(block, "energies");
    this.joints = section(block, "joints");
    this.contact = section(block, "contact");
    this.softs = head.softs.map((about, k) => new Deformable(block, about, k, this.frames));
    this.courses = new Map();  // cables over wheels, by their number among the strands
    head.strands.forEach((strand, k) => {
      if (strand.count) this.courses.set(k, new Course(block, strand.count, k, this.frames));
    });
    this.X = new Float32Array(12 * this.bodies);  // per body R in columns, then p
    this.tension = new Float32Array(head.strands.length);
    this.force = new Float32Array(3 * head.joints.length);
    const q = new Float64Array(7);
    for (let b = 0; b < this.bodies; b++) {
      for (let k = 0; k < 7; k++) q[k] = this.rest[7 * b + k];
      placeBody(this.X, b, q);
    }
  }

  // The last frame at or before a time, and the part of the way to the next.
  locate(time) {
    let low = 0, high = this.frames - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (this.t[middle] <= time) low = middle; else high = middle;
    }
    const span = this.t[high] - this.t[low];
    return [low, high, span > 0 ? Math.min(1, Math.max(0, (time - this.t[low]) / span)) : 0];
  }

  nearest(time) {
    const [low, high, part] = this.locate(time);
    return part < 0.5 ? low : high;
  }

  seek(time) {
    const [low, high, part] = this.locate(time), F = this.frames, q = new Float64Array(7);
    for (let m = 0; m < this.moving.length; m++) {
      for (let k = 0; k < 7; k++) {
        const row = (7 * m + k) * F, a = this.poses[row + low], b = this.poses[row + high];
        q[k] = a + part * (b - a);
        if (k < 3) q[k] = this.centre[3 * m + k] + this.step[3 * m + k] * q[k];
      }
      placeBody(this.X, this.moving[m], q);
    }
    for (const soft of this.softs) soft.seek(low, high, part, F);
    for (const course of this.courses.values()) course.seek(low, high, part, F);
    const near = part < 0.5 ? low : high;
    for (let s = 0; s < this.tension.length; s++) this.tension[s] = this.tensions[s * F + near] / 32767;
    for (let k = 0; k < this.force.length; k++) this.force[k] = this.forces[k * F + near] / 32767;
  }

  // x of a point fixed in a body.
  point(body, p, out) {
    const X = this.X, o = 12 * body;
    for (let k = 0; k < 3; k++) out[k] = X[o + k] * p[0] + X[o + 3 + k] * p[1] + X[o + 6 + k] * p[2] + X[o + 9 + k];
    return out;
  }
}

// The points of a cable over wheels.
class Course {
  constructor(block, count, k, frames) {
    this.centre = section(block, `coursecentre${k}`);
    this.step = section(block, `coursestep${k}`);
    this.track = track(block, `course${k}`, frames);
    this.x = new Float32Array(3 * count);
  }

  seek(low, high, part, F) {
    for (let k = 0; k < this.x.length; k++) {
      const a = this.track[k * F + low], b = this.track[k * F + high];
      this.x[k] = this.centre[k] + this.step[k] * (a + part * (b - a));
    }
  }
}

function placeBody(X, body, pose) {
  let [px, py, pz, w, x, y, z] = pose;
  const s = 1 / Math.hypot(w, x, y, z), o = 12 * body;
  w *= s; x *= s; y *= s; z *= s;
  X[o] = 1 - 2 * (y * y + z * z); X[o + 1] = 2 * (x * y + w * z); X[o + 2] = 2 * (x * z - w * y);
  X[o + 3] = 2 * (x * y - w * z); X[o + 4] = 1 - 2 * (x * x + z * z); X[o + 5] = 2 * (y * z + w * x);
  X[o + 6] = 2 * (x * z + w * y); X[o + 7] = 2 * (y * z - w * x); X[o + 8] = 1 - 2 * (x * x + y * y);
  X[o + 9] = px; X[o + 10] = py; X[o + 11] = pz;
}
