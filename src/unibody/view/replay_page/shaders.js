// Shaders. Light: one sun with soft shadows, a sky above and the ground's glow below. Colours are mixed in linear light.

const LIGHT = `
uniform vec3 eye, sun, zenith;
uniform mat4 sun_matrix;
uniform float shadowed, texel;
uniform highp sampler2DShadow shade;

float lit(vec3 x, vec3 n, float spread) {
  if (shadowed < 0.5) return 1.0;
  vec3 s = (sun_matrix * vec4(x + n * spread, 1.0)).xyz * 0.5 + 0.5;
  if (any(lessThan(s, vec3(0.0))) || any(greaterThan(s, vec3(1.0)))) return 1.0;
  float sum = 0.0;
  for (int i = -1; i < 2; i++) for (int j = -1; j < 2; j++)
    sum += texture(shade, vec3(s.xy + vec2(float(i), float(j)) * 1.7 * texel, s.z - 0.0012));
  return sum / 9.0;
}

vec3 seen(vec3 colour, vec3 n, vec3 x, float spread) {
  vec3 c = pow(colour, vec3(2.2)), to_eye = normalize(eye - x);
  float facing = max(dot(n, sun), 0.0), shadow = facing > 0.0 ? lit(x, n, spread) : 0.0;
  vec3 sky = mix(vec3(0.30, 0.29, 0.28), vec3(0.62, 0.66, 0.72), 0.5 + 0.5 * dot(n, zenith));
  float shine = pow(max(dot(n, normalize(sun + to_eye)), 0.0), 40.0) * 0.16 * shadow;
  float rim = pow(1.0 - max(dot(n, to_eye), 0.0), 4.0) * 0.10;
  return pow(c * (sky + vec3(1.0, 0.96, 0.90) * 0.72 * facing * shadow) + shine + rim * vec3(0.8, 0.9, 1.0), vec3(1.0 / 2.2));
}`;

const SOLID_VERTEX = `#version 300 es
layout(location = 0) in vec3 place;
layout(location = 1) in vec3 normal;
layout(location = 2) in vec3 c0;
layout(location = 3) in vec3 c1;
layout(location = 4) in vec3 c2;
layout(location = 5) in vec3 origin;
layout(location = 6) in vec3 tint;
uniform mat4 matrix;
uniform vec3 extent;
out vec3 x, n, colour;
void main() {
  x = c0 * place.x + c1 * place.y + c2 * place.z + origin;
  vec3 m = normal * extent;
  n = c0 * (m.x / dot(c0, c0)) + c1 * (m.y / dot(c1, c1)) + c2 * (m.z / dot(c2, c2));
  colour = tint;
  gl_Position = matrix * vec4(x, 1.0);
  gl_Position.z -= gl_Position.w * 2e-6 * float(gl_InstanceID % 16);  // faces in one plane do not flicker
}`;

const SOLID_FRAGMENT = `#version 300 es
precision highp float;
in vec3 x, n, colour;
uniform float opacity, spread;
out vec4 pixel;
${LIGHT}
void main() {
  vec3 m = normalize(n);
  if (dot(m, eye - x) < 0.0) m = -m;
  pixel = vec4(seen(colour, m, x, spread), 1.0) * opacity;
}`;

const DARK_FRAGMENT = `#version 300 es
precision mediump float;
void main() {}`;

// A tube from a to b, as a strip that turns to the viewer and is shaded as if it were round; a width of 0 at one end makes a cone.
const TUBE_VERTEX = `#version 300 es
layout(location = 0) in vec2 corner;
layout(location = 1) in vec3 a;
layout(location = 2) in vec3 b;
layout(location = 3) in vec2 widths;
layout(location = 4) in vec3 tint;
uniform mat4 matrix;
uniform vec4 viewer;
uniform float pixel_size;
out vec3 x, side, front, colour;
out float s;
void main() {
  x = mix(a, b, corner.x);
  vec3 towards = viewer.w > 0.5 ? viewer.xyz - x : viewer.xyz;
  float width = mix(widths.x, widths.y, corner.x);
  if (widths.y > 0.0) width = max(width, pixel_size * length(towards));
  side = cross(b - a, towards);
  side = length(side) > 0.0 ? normalize(side) : vec3(0.0);
  front = normalize(cross(side, b - a));
  if (dot(front, towards) < 0.0) front = -front;
  s = corner.y;
  colour = tint;
  x += side * s * width;
  gl_Position = matrix * vec4(x, 1.0);
}`;

const TUBE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 x, side, front, colour;
in float s;
uniform float spread;
out vec4 pixel;
${LIGHT}
void main() {
  pixel = vec4(seen(colour, normalize(side * s + front * sqrt(max(0.0, 1.0 - s * s))), x, spread), 1.0);
}`;

const GROUND_VERTEX = `#version 300 es
uniform mat4 matrix;
uniform vec3 middle, e1, e2;
uniform float reach;
out vec2 g;
out vec3 x;
void main() {
  g = vec2(float(gl_VertexID & 1) * 2.0 - 1.0, float(gl_VertexID >> 1) * 2.0 - 1.0) * reach;
  x = middle + e1 * g.x + e2 * g.y;
  gl_Position = matrix * vec4(x, 1.0);
}`;

const GROUND_FRAGMENT = `#version 300 es
precision highp float;
in vec2 g;
in vec3 x;
uniform float cell, reach, spread;
uniform vec2 shift;
out vec4 pixel;
${LIGHT}
float lines(vec2 p) {
  vec2 w = fwidth(p), d = abs(fract(p - 0.5) - 0.5) / w;
  float fade = 1.0 - smoothstep(0.15, 0.5, max(w.x, w.y));
  return (1.0 - min(min(d.x, d.y), 1.0)) * fade;
}
void main() {
  float away = length(g) / reach, shadow = 1.0 - lit(x, zenith, spread);
  vec2 p = (g + shift) / cell;
  vec3 base = vec3(0.955, 0.965, 0.975);
  vec3 colour = mix(base, vec3(0.77, 0.81, 0.85), max(0.4 * lines(p), lines(p / 5.0)));
  colour *= 1.0 - 0.34 * shadow * vec3(1.0, 0.95, 0.88);
  pixel = vec4(colour, 1.0) * (1.0 - smoothstep(0.25, 0.95, away));
}`;
