// Deformables: vertices that move by themselves. Surfaces are lit by the normals of their present shape and break only at edges that
// they have at rest: a drawn corner is a vertex, once for each smooth part around it.

class Deformable {
  constructor(block, about, k, frames) {
    this.about = about;
    this.centre = section(block, `softcentre${k}`);
    this.step = section(block, `softstep${k}`);
    this.numbers = track(block, `soft${k}`, frames);
    this.strains = track(block, `strain${k}`, frames);
    this.of = section(block, `softof${k}`);
    this.faces = section(block, `softfaces${k}`);
    this.edges = section(block, `softedges${k}`);
    this.x = new Float32Array(this.centre.length);
    this.strain = new Float32Array(this.centre.length / 3);
    this.places = new Float32Array(3 * this.of.length);
    this.normals = new Float32Array(3 * this.of.length);
    this.tint = new Uint8Array(3 * this.of.length);
  }

  seek(low, high, part, frames) {
    for (let r = 0; r < this.x.length; r++) {
      const a = this.numbers[r * frames + low], b = this.numbers[r * frames + high];
      this.x[r] = this.centre[r] + this.step[r] * (a + part * (b - a));
    }
    for (let v = 0; v < this.strain.length; v++) {
      const a = this.strains[v * frames + low], b = this.strains[v * frames + high];
      this.strain[v] = (a + part * (b - a)) / 32767;
    }
  }

  colour(vertex, strained) {
    return strained ? forceColour(this.strain[vertex]) : this.about.colour;
  }

  // Places, normals and colours of the drawn corners.
  dress(strained) {
    const { of, places, normals, tint, faces, x } = this;
    for (let c = 0; c < of.length; c++) {
      const colour = this.colour(of[c], strained);
      for (let k = 0; k < 3; k++) {
        places[3 * c + k] = x[3 * of[c] + k];
        tint[3 * c + k] = Math.round(255 * colour[k]);
      }
    }
    normals.fill(0);
    for (let f = 0; f < faces.length; f += 3) {
      const a = 3 * faces[f], b = 3 * faces[f + 1], c = 3 * faces[f + 2];
      const ux = places[b] - places[a], uy = places[b + 1] - places[a + 1], uz = places[b + 2] - places[a + 2];
      const vx = places[c] - places[a], vy = places[c + 1] - places[a + 1], vz = places[c + 2] - places[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      for (const corner of [a, b, c]) { normals[corner] += nx; normals[corner + 1] += ny; normals[corner + 2] += nz; }
    }
    for (let c = 0; c < normals.length; c += 3) {
      const size = Math.hypot(normals[c], normals[c + 1], normals[c + 2]) || 1;
      for (let k = 0; k < 3; k++) normals[c + k] /= size;
    }
  }
}

// Grey without force or strain, towards one colour for a part up to 1 (pull) and towards another down to -1 (push).
function forceColour(part) {
  const [slack, pull, push] = head.tension.colours, end = part >= 0 ? pull : push, s = Math.min(1, Math.abs(part));
  return slack.map((c, k) => c + s * (end[k] - c));
}
