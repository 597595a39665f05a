// The page: time runs, everything that shows it follows. Nothing is drawn while nothing changes.

const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
const SLOW = 220;
const PLAY = "M4 2.5v11L13 8z", PAUSE = "M4 3h3v10H4zM9 3h3v10H9z";

class Page {
  constructor(block) {
    this.motion = new Motion(block);
    this.time = this.motion.start;
    this.playing = this.steering = false;
    this.slow = this.thrift = 0;
    this.shown = { strands: true, strain: false, joints: false, forces: false, ground: head.ground.shown, shadow: true, plots: true };
    this.camera = new Camera(head.axes, head.low, head.high, head.angles);
    this.plots = makePlots(this.motion, (time) => this.seek(time));
    this.tubes = new Tubes(this.motion, 2 * this.camera.radius);
    try {
      this.renderer = new Renderer(byId("view"), block, this.motion);
      steer(byId("view"), this.camera, () => this.steered());
      nameBodies(byId("view"), this.camera, this.renderer);
    } catch (error) { this.trouble(error); }
    this.controls();
    this.toggles();
    this.legend();
    new ResizeObserver(() => this.resized()).observe(document.body);
    this.resized();
    this.seek(this.time);
    if (this.motion.frames > 1) this.play(true);
  }

  trouble(error) {
    byId("trouble").textContent = error.message;
    byId("trouble").hidden = false;
  }

  controls() {
    const span = this.motion.end - this.motion.start, speed = byId("speed");
    const chosen = SPEEDS.findLast((s) => s <= 1 && (span / s >= 2 || s === SPEEDS[0]));
    for (const s of SPEEDS) speed.add(new Option(`${s}×`, s, false, s === chosen));
    byId("scrub").max = span || 1;
    byId("scrub").disabled = !span;
    byId("scrub").addEventListener("input", (event) => this.seek(this.motion.start + Number(event.target.value)));
    const actions = {
      play: () => this.play(!this.playing), first: () => this.seek(this.motion.start), last: () => this.seek(this.motion.end),
      back: () => this.step(-1), ahead: () => this.step(1), fit: () => { this.camera.untouched = true; this.camera.fit(); this.ask(); },
      loop: () => byId("loop").setAttribute("aria-pressed", String(!this.loops)),
    };
    for (const id of ["play", "first", "back", "ahead", "fit", "loop"]) byId(id).addEventListener("click", actions[id]);
    byId("view").addEventListener("dblclick", actions.fit);
    const keys = { " ": "play", ArrowLeft: "back", ArrowRight: "ahead", Home: "first", End: "last", f: "fit", l: "loop" };
    document.addEventListener("keydown", (event) => {
      const action = keys[event.key];
      if (!action || event.ctrlKey || event.metaKey || event.altKey || ["BUTTON", "SELECT"].includes(event.target.tagName)) return;
      event.preventDefault();
      actions[action]();
    });
  }

  get loops() { return byId("loop").getAttribute("aria-pressed") === "true"; }

  toggles() {
    const there = { strands: head.strands.length, strain: head.softs.length, joints: head.joints.length, forces: head.forces.largest > 0, ground: head.ground.shown };
    for (const name of Object.keys(this.shown)) {
      const button = byId(`show-${name}`);
      if (name in there && !there[name]) button.hidden = true;
      button.addEventListener("click", () => {
        this.shown[name] = !this.shown[name];
        button.setAttribute("aria-pressed", String(this.shown[name]));
        if (name === "strain") this.moved = true;
        if (name === "plots") byId("plots").hidden = !this.shown.plots;
        this.legend();
        this.ask();
      });
    }
  }

  legend() {
    const legend = byId("legend"), largest = head.tension.largest, css = (c) => `rgb(${c.map((x) => Math.round(255 * x)).join(" ")})`;
    const [slack, pull, push] = head.tension.colours.map(css), parts = [];
    const round = (x) => Number(x.toPrecision(2));
    const text = (words) => Object.assign(document.createElement("span"), { textContent: words });
    if (this.shown.strands && largest > 0) {
      const bar = document.createElement("i");
      bar.style.background = head.tension.pushes ? `linear-gradient(90deg, ${push}, ${slack}, ${pull})` : `linear-gradient(90deg, ${slack}, ${pull})`;
      parts.push(text(head.tension.pushes ? `push ${number(round(largest))} N` : "0"), bar, text(`pull ${number(round(largest))} N`));
    }
    if (this.shown.strain) {
      const bar = document.createElement("i"), most = `${number(round(100 * head.strain))} %`;
      bar.style.background = `linear-gradient(90deg, ${push}, ${slack}, ${pull})`;
      parts.push(text(`pressed ${most}`), bar, text(`stretched ${most}`));
    }
    if (this.shown.forces) parts.push(text(`arrow of ${number(round(LONGEST * this.tubes.size))} m: ${number(round(head.forces.shown))} N`));
    legend.replaceChildren(...parts);
    legend.hidden = !parts.length;
  }

  resized() {
    const view = byId("view");
    this.camera.aspect = view.clientWidth / Math.max(1, view.clientHeight);
    if (this.camera.untouched) this.camera.fit();
    this.plots.draw();
    this.plots.move(this.time);
    this.ask();
  }

  play(on) {
    if (on && !this.loops && this.time >= this.motion.end) this.time = this.motion.start;
    this.playing = on;
    this.last = undefined;
    byId("play-icon").setAttribute("d", on ? PAUSE : PLAY);
    byId("play").setAttribute("aria-label", on ? "Pause" : "Play");
    this.ask();
  }

  step(frames) {
    this.play(false);
    const k = Math.min(this.motion.frames - 1, Math.max(0, this.motion.nearest(this.time) + frames));
    this.seek(this.motion.t[k]);
  }

  seek(time) {
    this.time = Math.min(this.motion.end, Math.max(this.motion.start, time));
    this.moved = true;
    this.ask();
  }

  ask() {
    if (!this.asked) this.asked = requestAnimationFrame((now) => this.tick(now));
  }

  tick(now) {
    this.asked = 0;
    if (this.playing) {
      const passed = this.last === undefined ? 0 : Math.min(0.25, (now - this.last) / 1000);
      if (this.last !== undefined) this.spare(now - this.last);
      this.last = now;
      this.time += passed * Number(byId("speed").value);
      this.moved = true;
      if (this.time > this.motion.end) {
        this.time = this.loops ? this.motion.start : this.motion.end;
        if (!this.loops) this.play(false);
      }
    }
    this.show();
    if (this.playing) this.ask();
  }

  // A machine that takes long for several frames on end gets simpler ones while things move: without shadows, then with fewer pixels.
  spare(milliseconds) {
    this.slow = milliseconds > SLOW ? this.slow + 1 : 0;
    if (this.slow < 4) return;
    this.slow = 0;
    this.thrift = Math.min(3, this.thrift + 1);
  }

  steered() {
    clearTimeout(this.rest);
    this.steering = true;
    this.rest = setTimeout(() => { this.steering = false; this.ask(); }, 250);
    this.ask();
  }

  show() {
    if (this.moved || !this.placed) {
      this.motion.seek(this.time);
      if (this.renderer) this.renderer.place(this.shown.strain);
      byId("scrub").value = this.time - this.motion.start;
      const digits = this.motion.end < 1 ? 4 : this.motion.end < 100 ? 3 : 1;
      byId("time").textContent = `${this.time.toFixed(digits)} / ${this.motion.end.toFixed(digits)} s`;
      this.plots.move(this.time);
      this.moved = false;
      this.placed = true;
    }
    this.tubes.update(this.shown);
    const thrift = this.playing || this.steering ? this.thrift : 0, shown = { ...this.shown, shadow: this.shown.shadow && !thrift };
    if (this.renderer) this.renderer.draw(this.camera, this.tubes, shown, [1, 1, 0.7, 0.5][thrift]);
    document.documentElement.dataset.ready = "yes";
  }
}

readBlock().then((block) => new Page(block)).catch((error) => {
  byId("trouble").textContent = error.message;
  byId("trouble").hidden = false;
  throw error;
});
