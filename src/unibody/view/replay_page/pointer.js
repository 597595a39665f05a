// Mouse and fingers on the picture: turn, shift, zoom, and the name of the body under the pointer.

function steer(canvas, camera, changed) {
  const held = new Map();
  const middle = () => {
    const all = [...held.values()], n = all.length;
    return { x: all.reduce((s, p) => s + p.x, 0) / n, y: all.reduce((s, p) => s + p.y, 0) / n, apart: n > 1 ? Math.hypot(all[0].x - all[1].x, all[0].y - all[1].y) : 0 };
  };
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
  });
  for (const end of ["pointerup", "pointercancel"]) canvas.addEventListener(end, (event) => held.delete(event.pointerId));
  canvas.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId)) return;
    const before = middle();
    held.set(event.pointerId, { x: event.clientX, y: event.clientY });
    const now = middle(), dx = now.x - before.x, dy = now.y - before.y;
    if (held.size > 1 || event.buttons & 6 || event.shiftKey) camera.pan(dx, dy, canvas.clientHeight);
    else camera.orbit(dx, dy);
    if (before.apart > 0 && now.apart > 0) camera.zoom(before.apart / now.apart);
    changed();
  });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    camera.zoom(Math.exp(0.0012 * event.deltaY * (event.deltaMode === 1 ? 30 : 1)));
    changed();
  }, { passive: false });
}

// The body whose instance's box a ray meets first; instances are boxes 0 … 1 under their own columns.
function bodyAt(groups, eye, ray) {
  let best = Infinity, found = -1;
  for (const { body, world } of groups) {
    for (let i = 0; i < body.length; i++) {
      const o = 12 * i, column = (c) => [world[o + 3 * c], world[o + 3 * c + 1], world[o + 3 * c + 2]], from = along(eye, -1, column(3));
      let near = 0, far = Infinity;
      for (let c = 0; c < 3 && near <= far; c++) {
        const e = column(c), size = dot(e, e), start = dot(e, from) / size, rate = dot(e, ray) / size;
        const a = (0 - start) / rate, b = (1 - start) / rate;
        near = Math.max(near, Math.min(a, b)); far = Math.min(far, Math.max(a, b));
      }
      if (near <= far && near < best) { best = near; found = body[i]; }
    }
  }
  return found;
}

function nameBodies(canvas, camera, renderer) {
  const hint = byId("hint");
  canvas.addEventListener("pointerleave", () => { hint.hidden = true; });
  canvas.addEventListener("pointermove", (event) => {
    hint.hidden = true;
    if (event.buttons || event.pointerType === "touch") return;
    const x = 2 * event.offsetX / canvas.clientWidth - 1, y = 1 - 2 * event.offsetY / canvas.clientHeight;
    const body = bodyAt(renderer.groups, camera.eye, camera.ray(x, y));
    if (body < 0) return;
    hint.textContent = head.bodies[body];
    hint.hidden = false;
    hint.style.left = `${Math.min(event.offsetX + 14, canvas.clientWidth - hint.offsetWidth - 4)}px`;
    hint.style.top = `${Math.max(4, event.offsetY - 26)}px`;
  });
}
