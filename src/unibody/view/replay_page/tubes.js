// Everything thin, as tubes: rods, springs (coils while there are few), cables and rods coloured by tension, joint frames, arrows of forces.

const COILS = 24, TURNS = 8, PER_TURN = 12, ARROW = [0.78, 0.08, 0.44], LONGEST = 0.18;

class Tubes {
  constructor(motion, size) {
    this.motion = motion;
    this.size = size;
    this.data = new Float32Array(11 * 64);
    this.coils = head.strands.filter((s) => s.kind === "spring").length <= COILS;
    this.axes = [[0.82, 0.22, 0.2], [0.2, 0.62, 0.25], [0.2, 0.4, 0.85]];
  }

  add(a, b, wa, wb, colour) {
    const o = 11 * this.count++;
    if (o + 11 > this.data.length) {
      const more = new Float32Array(2 * this.data.length);
      more.set(this.data);
      this.data = more;
    }
    this.data.set(a, o); this.data.set(b, o + 3);
    this.data[o + 6] = wa; this.data[o + 7] = wb;
    this.data.set(colour, o + 8);
  }

  // `count` tubes, of which the first `solid` are things that cast shadows.
  update(shown) {
    this.count = 0;
    this.rods(shown.strain);
    if (shown.strands) this.strands();
    this.solid = this.count;  // what comes after is seen through everything
    if (shown.forces) this.arrows();
    if (shown.joints) this.frames();
  }

  rods(strained) {
    for (const soft of this.motion.softs) {
      for (let e = 0; e < soft.edges.length; e += 2) {
        const i = soft.edges[e], j = soft.edges[e + 1], r = soft.about.radius;
        const ends = [i, j].map((v) => soft.x.subarray(3 * v, 3 * v + 3)), hues = [i, j].map((v) => soft.colour(v, strained));
        this.add(ends[0], ends[1], r, r, hues[0].map((c, k) => 0.5 * (c + hues[1][k])));
      }
    }
  }

  strands() {
    const p = [];
    head.strands.forEach((strand, k) => {
      const known = this.motion.tension[k], colour = forceColour(known < -1 ? 0 : known);
      const course = this.motion.courses.get(k), n = course ? strand.count : strand.body.length;
      if (course) for (let i = 0; i < n; i++) p[i] = course.x.slice(3 * i, 3 * i + 3);
      else strand.body.forEach((body, i) => { p[i] = this.motion.point(body, strand.p[i], [0, 0, 0]); });
      if (strand.kind === "spring" && this.coils && n === 2) this.coil(p[0], p[1], colour);
      else for (let i = 1; i < n; i++) {
        const w = (strand.kind === "rod" ? 0.005 : 0.0028) * this.size * Math.min(1, Math.sqrt(COILS / head.strands.length));
        this.add(p[i - 1], p[i], w, w, colour);
      }
    });
  }

  coil(a, b, colour) {
    const d = along(b, -1, a), length = Math.hypot(...d), w = 0.0028 * this.size;
    if (length < 1e-9) return;
    const u = unit(d), side = unit(cross(u, Math.abs(u[1]) < 0.9 ? [0, 1, 0] : [1, 0, 0])), other = cross(u, side);
    const radius = Math.min(0.02 * this.size, 0.2 * length), steps = TURNS * PER_TURN;
    let last = along(a, 0.1, d);
    this.add(a, last, w, w, colour);
    for (let k = 0; k <= steps; k++) {
      const angle = 2 * Math.PI * k / PER_TURN, near = radius * Math.min(1, k / 6, (steps - k) / 6);
      const next = along(along(along(a, 0.1 + 0.8 * k / steps, d), near * Math.sin(angle), side), near * Math.cos(angle), other);
      this.add(last, next, w, w, colour);
      last = next;
    }
    this.add(last, b, w, w, colour);
  }

  frames() {
    const X = this.motion.X, a = [0, 0, 0], length = 0.045 * this.size, w = 0.0026 * this.size;
    for (const joint of head.joints) {
      this.motion.point(joint.body, joint.p, a);
      const o = 12 * joint.body;
      for (let k = 0; k < 3; k++) {
        const r = joint.R[k];
        const axis = [0, 1, 2].map((i) => X[o + i] * r[0] + X[o + 3 + i] * r[1] + X[o + 6 + i] * r[2]);
        this.add(a, along(a, length, axis), w, w, this.axes[k]);
      }
    }
  }

  arrows() {
    const a = [0, 0, 0], w = 0.0045 * this.size, longest = LONGEST * this.size, full = head.forces.shown / head.forces.largest || 1;
    head.joints.forEach((joint, k) => {
      const f = [0, 1, 2].map((i) => this.motion.force[3 * k + i] / full), size = Math.hypot(...f);
      if (size < 0.01) return;
      this.motion.point(joint.body, joint.p, a);
      const length = longest * Math.min(size, 1.6), u = unit(f), neck = Math.max(0.55 * length, length - 6 * w);
      this.add(a, along(a, neck, u), w, w, ARROW);
      this.add(along(a, neck, u), along(a, length, u), 2.6 * w, 0, ARROW);
    });
  }
}
