// The strip of plots: drawn once per size, with a line that moves over them.

const INK = "#22303c", SOFT = "#66727f", PALE = "#e8ecf0";
const LINES = [["kinetic", "#e4572e"], ["potential", "#2f5d8a"], ["total", "#22303c"]];
const MANY = ["#2f5d8a", "#e4572e", "#3a9d6e", "#8e5ea2", "#c98a1b", "#5a6b7a"];
const LEFT = 46, RIGHT = 6, TOP = 5, BOTTOM = 15;

function number(x) {
  if (x === 0) return "0";
  const size = Math.abs(x);
  return size >= 1e5 || size < 1e-3 ? x.toExponential(1).replace("e+", "e") : String(Number(x.toPrecision(4)));
}

// Round steps that divide a range into about n parts.
function ticks(low, high, n) {
  const rough = (high - low) / n, power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find((s) => s * power >= rough * 0.999) * power;
  const out = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) out.push(k * step);
  return out;
}

class Plot {
  constructor(canvas, motion, rows, logarithmic, seek) {
    Object.assign(this, { canvas, motion, logarithmic, cursor: canvas.parentElement.querySelector(".cursor") });
    this.take(rows);
    const there = (event) => {
      const part = (event.offsetX - LEFT) / (this.canvas.clientWidth - LEFT - RIGHT);
      seek(motion.start + Math.min(1, Math.max(0, part)) * (motion.end - motion.start));
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); there(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons) there(event); });
  }

  // These curves from now on, and the range that they need.
  take(rows) {
    const { logarithmic } = this;
    this.rows = rows;
    const values = rows.flatMap(({ values }) => Array.from(values).filter((x) => Number.isFinite(x) && (!logarithmic || x > 1e-17)));
    const seen = logarithmic ? values.map(Math.log10) : values;
    this.low = seen.reduce((a, b) => Math.min(a, b), Infinity);
    this.high = seen.reduce((a, b) => Math.max(a, b), -Infinity);
    this.empty = !seen.length;
    if (this.empty) [this.low, this.high] = logarithmic ? [-17, -15] : [0, 1];
    const least = logarithmic ? 2 : 1e-9 * Math.max(Math.abs(this.low), Math.abs(this.high)) || 1, spare = 0.06 * Math.max(this.high - this.low, least);
    if (this.high - this.low < least) { this.low -= 0.5 * least; this.high += 0.5 * least; }
    this.low -= spare; this.high += spare;
  }

  x(time) { return LEFT + (this.canvas.clientWidth - LEFT - RIGHT) * (time - this.motion.start) / (this.motion.end - this.motion.start || 1); }

  y(value) {
    const v = this.logarithmic ? Math.log10(Math.max(value, 1e-300)) : value, h = this.canvas.clientHeight - TOP - BOTTOM;
    return TOP + h * (this.high - v) / (this.high - this.low);
  }

  draw() {
    const ratio = globalThis.devicePixelRatio || 1, width = this.canvas.clientWidth, height = this.canvas.clientHeight, c = this.canvas.getContext("2d");
    this.canvas.width = width * ratio; this.canvas.height = height * ratio;
    c.scale(ratio, ratio);
    c.font = "10px system-ui, sans-serif"; c.fillStyle = SOFT; c.strokeStyle = PALE; c.lineWidth = 1;
    c.textAlign = "right"; c.textBaseline = "middle";
    for (const v of this.empty ? [] : this.logarithmic ? ticks(this.low, this.high, 4).filter(Number.isInteger) : ticks(this.low, this.high, 5)) {
      const y = Math.round(this.y(this.logarithmic ? 10 ** v : v)) + 0.5;
      c.beginPath(); c.moveTo(LEFT, y); c.lineTo(width - RIGHT, y); c.stroke();
      c.fillText(this.logarithmic ? `1e${v}` : number(Number(v.toPrecision(6))), LEFT - 5, y);
    }
    c.textBaseline = "top";
    for (const t of this.motion.end > this.motion.start ? ticks(this.motion.start, this.motion.end, Math.max(2, width / 110)) : [this.motion.start]) {
      c.textAlign = this.x(t) > width - 24 ? "right" : "center";
      c.fillText(`${number(Number(t.toPrecision(6)))} s`, Math.min(this.x(t), width), height - BOTTOM + 4);
    }
    if (this.empty) {
      c.textAlign = "center";
      c.fillText("none", 0.5 * (LEFT + width - RIGHT), 0.5 * (TOP + height - BOTTOM) - 14);
    }
    c.lineWidth = 1.5; c.lineJoin = "round";
    for (const { values, colour } of this.rows) {
      c.strokeStyle = colour; c.beginPath();
      let down = false;
      values.forEach((v, k) => {
        const good = Number.isFinite(v) && (!this.logarithmic || v > 1e-17);
        if (good) c[down ? "lineTo" : "moveTo"](this.x(this.motion.t[k]), this.y(v));
        down = good;
      });
      c.stroke();
    }
  }

  move(time) { this.cursor.style.left = `${this.x(time).toFixed(2)}px`; }
}

function makePlots(motion, seek) {
  const F = motion.frames, row = (k) => motion.energies.subarray(k * F, (k + 1) * F);
  const start = row(1)[0], level = [0, start, start];  // what changes hands is seen beside any zero of the potential
  const energies = LINES.map(([name, colour], k) => ({ name, colour, values: row(k).map((x) => x - level[k]) }));
  const violation = [{ name: "violation", colour: "#8e5ea2", values: row(3) }];
  const plots = [new Plot(byId("energy"), motion, energies, false, seek), new Plot(byId("violation"), motion, violation, true, seek)];
  const write = (place, rows) => rows.map(({ name, colour }) => {
    const label = document.createElement("em");
    label.style.color = colour;
    byId(place).append(label);
    return (k, values) => { label.textContent = `${name} ${number(Number(values[k].toPrecision(3)))}`; };
  });
  const labels = [...write("energy-values", energies), ...write("violation-values", violation)], rows = [...energies, ...violation];

  // what touches, where something ever does
  const contact = [{ name: "all", colour: "#3a9d6e", values: motion.contact }];
  byId("contact-figure").hidden = !motion.contact.some((x) => x > 0);
  if (!byId("contact-figure").hidden) {
    plots.push(new Plot(byId("contact"), motion, contact, false, seek));
    labels.push(...write("contact-values", contact));
    rows.push(...contact);
  }

  // the angles and slides of joints, all of them or one
  const joints = head.plotted.map((name, k) => ({ name, colour: MANY[k % MANY.length], values: motion.joints.subarray(k * F, (k + 1) * F) }));
  byId("joints-figure").hidden = !joints.length;
  if (joints.length) {
    const plot = new Plot(byId("joints"), motion, joints, false, seek), which = byId("joint"), told = document.createElement("em");
    ["all", ...head.plotted].forEach((name, k) => which.append(new Option(name, String(k - 1))));
    byId("joints-values").append(told);
    plots.push(plot);
    let one = joints.length === 1 ? joints[0] : null;
    which.hidden = joints.length === 1;
    const label = (k) => {
      told.hidden = !one;
      if (one) { told.style.color = one.colour; told.textContent = `${one.name} ${number(Number(one.values[k].toPrecision(3)))}`; }
    };
    which.addEventListener("change", () => {
      one = joints[Number(which.value)] || null;
      plot.take(one ? [one] : joints);
      plot.draw();
      label(motion.nearest(motion.start));
    });
    labels.push(label);
    rows.push({ values: null });
  }
  return {
    draw: () => plots.forEach((plot) => plot.draw()),
    move: (time) => {
      const k = motion.nearest(time);
      plots.forEach((plot) => plot.move(time));
      labels.forEach((label, i) => label(k, rows[i].values));
    },
  };
}
