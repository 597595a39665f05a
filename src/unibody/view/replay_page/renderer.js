// WebGL 2: solids as instances of few meshes, surfaces of deformables, tubes for everything thin, a ground, and a shadow map of the sun.

const SHADOW_SIZE = 2048;

class Renderer {
  constructor(canvas, block, motion) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, premultipliedAlpha: true });
    if (!gl) throw new Error("This browser shows no WebGL 2, which the picture needs; the plots below still play.");
    this.gl = gl;
    this.canvas = canvas;
    this.motion = motion;
    this.solid = this.program(SOLID_VERTEX, SOLID_FRAGMENT);
    this.solidDark = this.program(SOLID_VERTEX, DARK_FRAGMENT);
    this.tube = this.program(TUBE_VERTEX, TUBE_FRAGMENT);
    this.tubeDark = this.program(TUBE_VERTEX, DARK_FRAGMENT);
    this.ground = this.program(GROUND_VERTEX, GROUND_FRAGMENT);
    this.groups = head.solids.map((about, k) => this.group(block, about, k));
    this.groups.sort((a, b) => b.about.opacity - a.about.opacity);
    this.surfaces = motion.softs.filter((soft) => soft.faces.length).map((soft) => this.surface(soft));
    this.makeTubes();
    this.makeShadow();
  }

  program(vertex, fragment) {
    const gl = this.gl, made = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(made, shader);
    }
    gl.linkProgram(made);
    if (!gl.getProgramParameter(made, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(made));
    const at = {};
    for (let k = 0; k < gl.getProgramParameter(made, gl.ACTIVE_UNIFORMS); k++) {
      const { name } = gl.getActiveUniform(made, k);
      at[name] = gl.getUniformLocation(made, name);
    }
    return { made, at };
  }

  use(program, values) {
    const gl = this.gl;
    gl.useProgram(program.made);
    for (const [name, value] of Object.entries(values)) {
      const at = program.at[name];
      if (!at) continue;
      if (typeof value === "number") gl.uniform1f(at, value);
      else if (value.length === 16) gl.uniformMatrix4fv(at, false, value);
      else gl[`uniform${value.length}fv`](at, value);
    }
    if (program.at.shade) gl.uniform1i(program.at.shade, 0);
  }

  attribute(index, size, type, normalised, stride, offset, divisor) {
    const gl = this.gl;
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, size, type, normalised, stride, offset);
    gl.vertexAttribDivisor(index, divisor);
  }

  buffer(target, data, usage) {
    const gl = this.gl, made = gl.createBuffer();
    gl.bindBuffer(target, made);
    gl.bufferData(target, data, usage);
    return made;
  }

  group(block, about, k) {
    const gl = this.gl, vao = gl.createVertexArray(), indices = section(block, `faces${k}`);
    gl.bindVertexArray(vao);
    this.buffer(gl.ARRAY_BUFFER, section(block, `places${k}`), gl.STATIC_DRAW);
    this.attribute(0, 3, gl.UNSIGNED_SHORT, true, 6, 0, 0);
    this.buffer(gl.ARRAY_BUFFER, section(block, `normals${k}`), gl.STATIC_DRAW);
    this.attribute(1, 3, gl.BYTE, true, 3, 0, 0);
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
    const body = section(block, `body${k}`), local = section(block, `local${k}`), world = new Float32Array(12 * body.length);
    const instances = this.buffer(gl.ARRAY_BUFFER, world, gl.DYNAMIC_DRAW);
    for (let c = 0; c < 4; c++) this.attribute(2 + c, 3, gl.FLOAT, false, 48, 12 * c, 1);
    this.buffer(gl.ARRAY_BUFFER, section(block, `colour${k}`), gl.STATIC_DRAW);
    this.attribute(6, 3, gl.UNSIGNED_BYTE, true, 3, 0, 1);
    gl.bindVertexArray(null);
    const type = indices instanceof Uint16Array ? gl.UNSIGNED_SHORT : gl.UNSIGNED_INT;
    return { about, vao, body, local, world, instances, count: indices.length, type };
  }

  // Deformables are shown by the program of solids: as one instance that stands where it is.
  surface(soft) {
    const gl = this.gl, vao = gl.createVertexArray(), fill = (data) => this.buffer(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
    gl.bindVertexArray(vao);
    const places = fill(soft.places);
    this.attribute(0, 3, gl.FLOAT, false, 12, 0, 0);
    const normals = fill(soft.normals);
    this.attribute(1, 3, gl.FLOAT, false, 12, 0, 0);
    const tint = fill(soft.tint);
    this.attribute(6, 3, gl.UNSIGNED_BYTE, true, 3, 0, 0);
    this.buffer(gl.ELEMENT_ARRAY_BUFFER, soft.faces, gl.STATIC_DRAW);
    gl.bindVertexArray(null);
    return { soft, vao, buffers: [[places, "places"], [normals, "normals"], [tint, "tint"]] };
  }

  makeTubes() {
    const gl = this.gl;
    this.tubes = gl.createVertexArray();
    gl.bindVertexArray(this.tubes);
    this.buffer(gl.ARRAY_BUFFER, new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]), gl.STATIC_DRAW);
    this.attribute(0, 2, gl.FLOAT, false, 8, 0, 0);
    gl.bindVertexArray(null);
    this.tubeData = gl.createBuffer();
  }

  makeShadow() {
    const gl = this.gl;
    this.shade = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.shade);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW_SIZE, SHADOW_SIZE);
    for (const [name, value] of [["MIN_FILTER", "LINEAR"], ["MAG_FILTER", "LINEAR"], ["WRAP_S", "CLAMP_TO_EDGE"], ["WRAP_T", "CLAMP_TO_EDGE"],
      ["COMPARE_MODE", "COMPARE_REF_TO_TEXTURE"], ["COMPARE_FUNC", "LEQUAL"]]) gl.texParameteri(gl.TEXTURE_2D, gl[`TEXTURE_${name}`], gl[value]);
    this.shadowTarget = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowTarget);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, this.shade, 0);
    gl.drawBuffers([gl.NONE]);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  }

  // World places of all instances: X_WB times the instance's own columns; and of the vertices of deformables.
  place(strained) {
    const X = this.motion.X, gl = this.gl;
    for (const { soft, buffers } of this.surfaces) {
      soft.dress(strained);
      for (const [buffer, name] of buffers) {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        gl.bufferSubData(gl.ARRAY_BUFFER, 0, soft[name]);
      }
    }
    for (const { body, local, world, instances } of this.groups) {
      for (let i = 0; i < body.length; i++) {
        const o = 12 * body[i];
        for (let c = 0; c < 4; c++) {
          const l = 12 * i + 3 * c, x = local[l], y = local[l + 1], z = local[l + 2], shift = c === 3;
          for (let k = 0; k < 3; k++) world[l + k] = X[o + k] * x + X[o + 3 + k] * y + X[o + 6 + k] * z + (shift ? X[o + 9 + k] : 0);
        }
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, instances);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, world);
    }
  }

  drawSolids(program, values, shadows) {
    const gl = this.gl;
    for (const { soft, vao } of this.surfaces) {
      this.use(program, { ...values, extent: [1, 1, 1], opacity: 1 });
      gl.bindVertexArray(vao);
      for (const [index, column] of [[2, [1, 0, 0]], [3, [0, 1, 0]], [4, [0, 0, 1]], [5, [0, 0, 0]]]) gl.vertexAttrib3fv(index, column);
      gl.drawElements(gl.TRIANGLES, soft.faces.length, gl.UNSIGNED_INT, 0);
    }
    for (const g of this.groups) {
      if (!g.body.length || (shadows && g.about.opacity < 0.5)) continue;
      this.use(program, { ...values, extent: g.about.extent, opacity: g.about.opacity });
      gl.depthMask(shadows || g.about.opacity === 1);
      gl.bindVertexArray(g.vao);
      gl.drawElementsInstanced(gl.TRIANGLES, g.count, g.type, 0, g.body.length);
    }
    gl.depthMask(true);
  }

  drawTubes(program, values, first, end) {
    if (first >= end) return;
    const gl = this.gl;
    this.use(program, values);
    gl.bindVertexArray(this.tubes);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.tubeData);
    let offset = 44 * first;
    for (const [index, size] of [[1, 3], [2, 3], [3, 2], [4, 3]]) {
      this.attribute(index, size, gl.FLOAT, false, 44, offset, 1);
      offset += 4 * size;
    }
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, end - first);
  }

  sunMatrix(axes, camera) {
    const sun = unit(along(along(along([0, 0, 0], 0.42, axes[0]), -0.5, axes[1]), 1.0, axes[2]));
    const right = unit(cross(axes[1], sun)), up = cross(sun, right), r = 1.15 * camera.radius;
    const lens = new Float32Array([1 / r, 0, 0, 0, 0, 1 / r, 0, 0, 0, 0, -1 / (2.2 * r), 0, 0, 0, 0, 1]);
    return [sun, product(lens, viewMatrix(camera.middle, right, up, sun))];
  }

  draw(camera, tubes, shown, sharpness) {
    const gl = this.gl, ratio = sharpness * Math.min(globalThis.devicePixelRatio || 1, 2);
    const width = Math.max(1, Math.round(this.canvas.clientWidth * ratio)), height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) [this.canvas.width, this.canvas.height] = [width, height];
    const [sun, sunMatrix] = this.sunMatrix(camera.axes, camera);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.tubeData);
    gl.bufferData(gl.ARRAY_BUFFER, tubes.data.subarray(0, 11 * tubes.count), gl.DYNAMIC_DRAW);
    gl.enable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    if (shown.shadow) {
      gl.bindFramebuffer(gl.FRAMEBUFFER, this.shadowTarget);
      gl.viewport(0, 0, SHADOW_SIZE, SHADOW_SIZE);
      gl.clear(gl.DEPTH_BUFFER_BIT);
      this.drawSolids(this.solidDark, { matrix: sunMatrix }, true);
      this.drawTubes(this.tubeDark, { matrix: sunMatrix, viewer: [...sun, 0], pixel_size: 0.8 * camera.radius / SHADOW_SIZE }, 0, tubes.solid);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    }
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.bindTexture(gl.TEXTURE_2D, this.shade);
    const eye = camera.eye, matrix = camera.matrix(), spread = 2.5 * camera.radius / SHADOW_SIZE;
    const light = { matrix, eye, sun, zenith: camera.axes[2], sun_matrix: sunMatrix, shadowed: shown.shadow ? 1 : 0, texel: 1 / SHADOW_SIZE, spread };
    const above = dot(eye, camera.axes[2]) > head.ground.height;
    if (shown.ground && above) this.drawGround(camera, light);
    this.drawSolids(this.solid, light, false);
    const pixel = 1.1 * ratio * Math.tan(0.5 * camera.fov) / height;
    const thin = { ...light, viewer: [...eye, 1], pixel_size: pixel };
    this.drawTubes(this.tube, thin, 0, tubes.solid);
    gl.disable(gl.DEPTH_TEST);
    this.drawTubes(this.tube, { ...thin, shadowed: 0 }, tubes.solid, tubes.count);
  }

  drawGround(camera, light) {
    const gl = this.gl, [e1, e2, e3] = camera.axes, reach = 9 * camera.radius;
    const middle = along(camera.middle, head.ground.height - dot(camera.middle, e3), e3);
    const cell = 10 ** Math.floor(Math.log10(0.5 * camera.radius));
    this.use(this.ground, { ...light, middle, e1, e2, reach, cell, shift: [dot(middle, e1), dot(middle, e2)], spread: 0 });
    gl.bindVertexArray(null);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }
}
