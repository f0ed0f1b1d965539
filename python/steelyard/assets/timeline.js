// SPDX-License-Identifier: BSD-3-Clause
// The two charts of ranks by time: what each rank does, and how many cores it has. They show the same stretch.
// Samples come compressed (canvas.py). From them a pyramid is built: the shares of equal stretches of time, halved again and
// again. A picture takes the level that fits its pixels, or the samples themselves where these are wider.
"use strict";

const NONE = 255; // of the first two shares: no sample there
const OMP = 1; // place of OpenMP's share
const SAID = {mpi: "waiting in MPI", omp: "in OpenMP", lent: "cores lent", quiesced: "asleep", gpu_wait: "waiting for a GPU"};

function decodeBase64(text) {
  const code = new Uint8Array(128);
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (let i = 0; i < 64; ++i) code[letters.charCodeAt(i)] = i;
  const padding = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  const bytes = new Uint8Array((text.length / 4) * 3 - padding);
  for (let i = 0, out = 0; i < text.length; i += 4) {
    const word = (code[text.charCodeAt(i)] << 18) | (code[text.charCodeAt(i + 1)] << 12) |
      (code[text.charCodeAt(i + 2)] << 6) | code[text.charCodeAt(i + 3)];
    bytes[out++] = word >> 16;
    bytes[out++] = word >> 8; // what lies beyond the end is dropped
    bytes[out++] = word;
  }
  return bytes;
}

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** A signed number, zigzag, from planes of bytes; up to 33 bits. */
function number(planes, k, count, bytes) {
  let z = planes[k];
  if (bytes < 4) { // nearly always: a whole number of 32 bits
    if (bytes > 1) z |= planes[count + k] << 8;
    if (bytes > 2) z |= planes[2 * count + k] << 16;
    return (z >>> 1) ^ -(z & 1);
  }
  for (let p = 1, unit = 256; p < bytes; ++p, unit *= 256) z += planes[p * count + k] * unit;
  return z % 2 ? -(z + 1) / 2 : z / 2;
}

/** A rank's row of a level from that of the next finer one: the means of pairs, or the one of them that is there. */
function halve(fine, coarse, rank) {
  const [mpi, omp] = fine.shares, {threads} = fine;
  for (let b = 0, i = rank * fine.bins, o = rank * coarse.bins; b < coarse.bins; ++b, i += 2, ++o) {
    const left = mpi[i] !== NONE || omp[i] !== NONE, right = mpi[i + 1] !== NONE || omp[i + 1] !== NONE;
    const a = left ? i : i + 1, c = right ? i + 1 : i;
    for (let k = 0; k < fine.shares.length; ++k)
      coarse.shares[k][o] = (fine.shares[k][a] + fine.shares[k][c] + 1) >> 1;
    coarse.threads[o] = (threads[a] + threads[c] + 1) >> 1;
  }
}

/** All samples of all ranks, and the pyramid above them. */
class Samples {
  constructor(head) {
    this.head = head;
    this.ranks = head.ranks.length;
    this.ready = 0; // ranks whose samples are here
    this.first = new Uint32Array(this.ranks + 1);
    for (let r = 0; r < this.ranks; ++r) this.first[r + 1] = this.first[r] + head.samples[r];
    const count = this.first[this.ranks];
    this.end = new Uint32Array(count); // in ticks
    this.kinds = ["mpi", "omp", ...head.rare];
    this.shares = this.kinds.map(() => new Uint8Array(count)); // of the sample's core time, in 255ths
    [this.mpi, this.omp] = this.shares;
    this.threads = new Uint16Array(count);
    const most = head.samples.reduce((a, b) => Math.max(a, b), 1);
    let bins = 256;
    while (bins < most && bins < 16384 && 2 * bins * this.ranks <= 1 << 25) bins *= 2;
    const row = () => new Float32Array(bins);
    this.sums = {cover: row(), shares: this.kinds.map(row), team: row()};
    this.levels = []; // finest first
    for (; bins >= 64; bins /= 2) {
      const cells = bins * this.ranks;
      const shares = this.kinds.map((_, k) => new Uint8Array(cells).fill(k < 2 ? NONE : 0));
      this.levels.push({bins, shares, threads: new Uint8Array(cells)});
    }
  }

  /** Where the ends of a rank's samples lie in [0, 1]. */
  get unit() { return this.head.tick / this.head.end; }

  async read(blocks, progress) {
    let rank = 0;
    for (let b = 0; b < blocks.length; ++b) {
      const bytes = await inflate(decodeBase64(blocks[b].textContent.trim()));
      blocks[b].remove();
      const last = rank + this.head.blocks[b];
      this.take(bytes, rank, last);
      for (let r = rank; r < last; ++r) this.bin(r);
      this.ready = rank = last;
      progress(this.ready / this.ranks);
      await new Promise(go => setTimeout(go, 0));
    }
  }

  take(bytes, from, to) {
    const begin = this.first[from], count = this.first[to] - begin;
    const many = bytes[0], few = bytes[1]; // bytes of a difference of ends, and of threads
    const ends = bytes.subarray(2), rest = bytes.subarray(2 + many * count);
    this.mpi.set(rest.subarray(0, count), begin);
    this.omp.set(rest.subarray(count, 2 * count), begin);
    const threads = rest.subarray(2 * count), rare = rest.subarray((2 + few) * count);
    for (let k = 2; k < this.shares.length; ++k)
      this.shares[k].set(rare.subarray((k - 2) * count, (k - 1) * count), begin);
    let before = -1;
    for (let r = from; r < to; ++r) {
      const at = this.first[r], n = this.first[r + 1] - at, shared = before < 0 ? 0 : Math.min(n, before);
      let team = 0;
      for (let i = 0; i < n; ++i) {
        const s = at + i, k = s - begin;
        const difference = number(ends, k, count, many);
        const predicted = i < shared ? this.end[this.first[r - 1] + i] : i > 0 ? this.end[s - 1] : 0;
        this.end[s] = predicted + difference;
        team += number(threads, k, count, few);
        this.threads[s] = team;
      }
      before = n;
    }
  }

  /** Spreads a rank's samples over the bins of the finest level, then halves. */
  bin(rank) {
    const finest = this.levels[0], bins = finest.bins, row = rank * bins;
    const {cover, shares, team} = this.sums, [mpi, omp] = shares, kinds = shares.length;
    cover.fill(0); team.fill(0);
    for (const sum of shares) sum.fill(0);
    const scale = this.unit * bins, last = this.first[rank + 1];
    let x0 = 0;
    for (let s = this.first[rank]; s < last; ++s) {
      const x1 = Math.min(this.end[s] * scale, bins), threads = this.threads[s];
      if (threads > 0) {
        const m = this.mpi[s], o = this.omp[s];
        for (let b = x0 | 0; b < x1; ++b) {
          const part = (x1 < b + 1 ? x1 : b + 1) - (x0 > b ? x0 : b);
          cover[b] += part;
          mpi[b] += part * m;
          omp[b] += part * o;
          team[b] += part * threads;
          for (let k = 2; k < kinds; ++k) shares[k][b] += part * this.shares[k][s];
        }
      }
      x0 = x1;
    }
    const teams = 254 / this.head.threads;
    for (let b = 0; b < bins; ++b) {
      if (cover[b] < 1e-3) continue;
      for (let k = 0; k < kinds; ++k) finest.shares[k][row + b] = shares[k][b] / cover[b];
      finest.threads[row + b] = (teams * team[b]) / cover[b] + 0.5;
    }
    for (let l = 1; l < this.levels.length; ++l) halve(this.levels[l - 1], this.levels[l], rank);
  }

  /** The first sample of a rank that ends after t, which is in ticks. */
  find(rank, t) {
    let low = this.first[rank], high = this.first[rank + 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end[middle] > t) high = middle; else low = middle + 1;
    }
    return low;
  }
}

/** A stretch of time [t0, t1], in fractions of the run, and of rows [r0, r1]. */
class View {
  constructor(rows, shortest) {
    this.rows = rows;
    this.shortest = shortest;
    this.whole();
  }
  whole() { this.t0 = 0; this.t1 = 1; this.r0 = 0; this.r1 = this.rows; }
  set(t0, t1, r0 = this.r0, r1 = this.r1) {
    const span = Math.min(1, Math.max(t1 - t0, this.shortest)), rows = Math.min(this.rows, Math.max(r1 - r0, 1));
    this.t0 = Math.min(Math.max(0, t0), 1 - span);
    this.t1 = this.t0 + span;
    this.r0 = Math.min(Math.max(0, r0), this.rows - rows);
    this.r1 = this.r0 + rows;
  }
  /** Zooms by a factor around a point in fractions of the picture. */
  zoom(factor, x, y, time = true, ranks = false) {
    const t = this.t0 + x * (this.t1 - this.t0), r = this.r0 + y * (this.r1 - this.r0);
    const ft = time ? factor : 1, fr = ranks ? factor : 1;
    this.set(t - (t - this.t0) * ft, t + (this.t1 - t) * ft, r - (r - this.r0) * fr, r + (this.r1 - r) * fr);
  }
  pan(x, y) {
    const t = x * (this.t1 - this.t0), r = y * (this.r1 - this.r0);
    this.set(this.t0 + t, this.t1 + t, this.r0 + r, this.r1 + r);
  }
}

const MARGIN = {left: 76, right: 12, top: 6, bottom: 26}; // CSS pixels

/** One canvas: pixels by shares ("activity") or by threads ("cores"). */
class Chart {
  constructor(canvas, samples, view, moves, lines) {
    this.canvas = canvas;
    this.samples = samples;
    this.view = view;
    this.moves = moves;
    this.lines = lines; // of moves that may be seen at once
    this.kind = canvas.dataset.chart;
    this.context = canvas.getContext("2d");
    this.behind = document.createElement("canvas"); // the plot, before it is brought to its size
    this.resize();
  }

  resize() {
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    this.ratio = ratio;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
  }

  /** Pixels of their own size, or, in a draft, of `size` times that. */
  canvasOf(size) {
    const room = (all, a, b) => Math.max(1, Math.round(((all - a - b) * this.ratio) / size));
    const width = room(this.width, MARGIN.left, MARGIN.right), height = room(this.height, MARGIN.top, MARGIN.bottom);
    if (this.image && this.image.width === width && this.image.height === height) return;
    this.behind.width = width;
    this.behind.height = height;
    this.image = this.context.createImageData(width, height);
    this.pixels = new Uint32Array(this.image.data.buffer);
    this.sums = this.samples.kinds.map(() => new Float32Array(width));
    this.weight = new Float32Array(width);
  }

  /** Colours as the style sheet has them now; the canvas knows no CSS. */
  colours() {
    const style = getComputedStyle(document.documentElement);
    const read = name => {
      this.context.fillStyle = style.getPropertyValue(name).trim();
      const hex = parseInt(this.context.fillStyle.slice(1), 16);
      return [hex >> 16, (hex >> 8) & 255, hex & 255];
    };
    this.useful = read("--useful");
    this.paints = this.samples.kinds.map(kind => read(`--${kind}`));
    this.empty = read("--plot"); this.text = style.getPropertyValue("--quiet").trim();
    this.ink = style.getPropertyValue("--ink").trim();
    this.accent = read("--useful");
    this.font = `12px ${style.getPropertyValue("--font")}`;
  }

  /** A draft has fewer pixels, and looks at fewer of the ranks that share one. Returns the milliseconds that it took. */
  draw(draft = false) {
    const began = performance.now(), {view, samples, ratio} = this;
    this.canvasOf(draft ? 2 * ratio : 1);
    this.most = draft ? 3 : 64; // ranks that are looked at for a row of pixels
    const {image} = this;
    const perPixel = ((view.t1 - view.t0) / image.width) * samples.levels[0].bins;
    const rowHeight = image.height / (view.r1 - view.r0);
    if (perPixel >= (draft ? 0.3 : 0.7)) this.drawBins(perPixel); else this.drawSamples(); // the latter takes longer
    if (rowHeight >= 4 * ratio) this.separate(rowHeight);
    this.behind.getContext("2d").putImageData(image, 0, 0);
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    this.context.imageSmoothingEnabled = false;
    this.plot = {x: MARGIN.left, y: MARGIN.top, w: this.width - MARGIN.left - MARGIN.right,
                 h: this.height - MARGIN.top - MARGIN.bottom};
    this.context.drawImage(this.behind, this.plot.x * ratio, this.plot.y * ratio, this.plot.w * ratio, this.plot.h * ratio);
    this.drawAxes(this.plot.h / (view.r1 - view.r0));
    return performance.now() - began;
  }

  clearSums() {
    this.weight.fill(0);
    for (const sum of this.sums) sum.fill(0);
  }

  /** From the level that has one to two bins a pixel. */
  drawBins(perPixel) {
    const {samples, view, image} = this, {width, height} = image;
    let level = 0;
    while (perPixel >= 1.5 && level + 1 < samples.levels.length) { perPixel /= 2; ++level; }
    const {bins, shares, threads} = samples.levels[level], [mpi, omp] = shares;
    const column = new Int32Array(width);
    for (let x = 0; x < width; ++x)
      column[x] = Math.min(bins - 1, Math.floor((view.t0 + ((x + 0.5) / width) * (view.t1 - view.t0)) * bins));
    const {sums, weight} = this, [sumMpi, sumOmp] = sums;
    this.eachRow((y, y1, from, to, step) => {
      this.clearSums();
      for (let r = from; r < to; r += step) {
        const row = r * bins;
        if (this.kind === "cores") {
          for (let x = 0; x < width; ++x) { const i = row + column[x];
            if (mpi[i] !== NONE || omp[i] !== NONE) { weight[x] += 1; sumMpi[x] += threads[i]; } }
        } else {
          for (let x = 0; x < width; ++x) { const i = row + column[x];
            if (mpi[i] !== NONE || omp[i] !== NONE) { weight[x] += 1; sumMpi[x] += mpi[i]; sumOmp[x] += omp[i]; } }
          for (let k = 2; k < sums.length; ++k) {
            const share = shares[k], sum = sums[k];
            for (let x = 0; x < width; ++x) sum[x] += share[row + column[x]]; // 0 where no sample is
          }
        }
      }
      this.paint(y, y1);
    });
  }

  /** From samples: each computes first and waits in MPI then, as a program does whose MPI calls end what it computes. */
  drawSamples() {
    const {samples, view, image} = this, width = image.width;
    const t0 = view.t0 / samples.unit, t1 = view.t1 / samples.unit, scale = width / (t1 - t0);
    const {sums, weight} = this, teams = 254 / samples.head.threads, values = new Float64Array(sums.length);
    const spread = (from, to) => {
      const x0 = Math.max(0, from), x1 = Math.min(width, to);
      for (let x = Math.floor(x0); x < x1; ++x) {
        const part = Math.min(x1, x + 1) - Math.max(x0, x);
        weight[x] += part;
        for (let k = 0; k < values.length; ++k) sums[k][x] += part * values[k];
      }
    };
    this.eachRow((y, y1, from, to, step) => {
      this.clearSums();
      for (let r = from; r < to; r += step) {
        const last = samples.first[r + 1];
        let s = samples.find(r, t0);
        let start = s > samples.first[r] ? samples.end[s - 1] : 0;
        for (; s < last && start < t1; ++s) {
          const end = samples.end[s], x0 = (start - t0) * scale, x1 = (end - t0) * scale;
          start = end;
          if (samples.threads[s] === 0) continue;
          values.fill(0);
          if (this.kind === "cores") { values[0] = teams * samples.threads[s]; spread(x0, x1); continue; }
          let waits = 0; // of all kinds but OpenMP's
          for (let k = 0; k < values.length; ++k) if (k !== OMP) waits += samples.shares[k][s];
          const middle = x1 - ((x1 - x0) * Math.min(255, waits)) / 255;
          values[OMP] = waits < 255 ? (255 * samples.omp[s]) / (255 - waits) : 0;
          if (middle > x0) spread(x0, middle);
          for (let k = 0; k < values.length; ++k) values[k] = k !== OMP && waits > 0 ? (255 * samples.shares[k][s]) / waits : 0;
          spread(middle, x1);
        }
      }
      this.paint(y, y1);
    }, Math.min(this.most, 4));
  }

  /** Calls with the pixel rows [y, y1) and the ranks [from, to) that they show; of many ranks, `most` evenly spread. */
  eachRow(call, most = this.most) {
    const {view, samples, image} = this, height = image.height, perPixel = (view.r1 - view.r0) / height;
    let y = 0;
    while (y < height) {
      const from = Math.floor(view.r0 + y * perPixel);
      let y1 = y + 1, to;
      if (perPixel < 1) {
        while (y1 < height && Math.floor(view.r0 + (y1 + 0.5) * perPixel) === Math.floor(view.r0 + (y + 0.5) * perPixel)) ++y1;
        to = Math.floor(view.r0 + (y + 0.5) * perPixel) + 1;
        call(y, y1, Math.min(to - 1, samples.ranks - 1), Math.min(to, samples.ready), 1);
      } else {
        to = Math.max(from + 1, Math.floor(view.r0 + y1 * perPixel));
        call(y, y1, from, Math.min(to, samples.ready), Math.max(1, Math.ceil((to - from) / most)));
      }
      y = y1;
    }
  }

  /** The sums as colours of these pixel rows. Rows that are high show threads as height, too. */
  paint(y, y1) {
    const {image, pixels, sums, weight, paints} = this, width = image.width, threads = sums[0];
    const [ur, ug, ub] = this.useful, [er, eg, eb] = this.empty;
    const row = y * width, blank = 0xff000000 | (eb << 16) | (eg << 8) | er;
    const bars = this.kind === "cores" && y1 - y >= 8;
    for (let x = 0; x < width; ++x) {
      const w = weight[x];
      if (w === 0) { pixels[row + x] = blank; continue; }
      // Threads: from empty to full. Activities: computing is what is left.
      let r = 0, g = 0, b = 0, rest = 1;
      if (this.kind === "cores") {
        rest = bars ? 1 : 0.08 + (0.92 * threads[x]) / w / 254;
        r = (1 - rest) * er; g = (1 - rest) * eg; b = (1 - rest) * eb;
      } else {
        for (let k = 0; k < sums.length; ++k) {
          const part = Math.min(rest, sums[k][x] / w / 255), paint = paints[k];
          rest -= part;
          r += part * paint[0]; g += part * paint[1]; b += part * paint[2];
        }
      }
      pixels[row + x] = 0xff000000 | ((b + rest * ub) << 16) | ((g + rest * ug) << 8) | (r + rest * ur);
    }
    for (let yy = y + 1; yy < y1; ++yy) pixels.copyWithin(yy * width, row, row + width);
    if (!bars) return;
    const room = y1 - y - 1;
    for (let x = 0; x < width; ++x) {
      const top = y1 - Math.round(weight[x] > 0 ? (room * threads[x]) / weight[x] / 254 : 0);
      for (let yy = y; yy < top; ++yy) pixels[yy * width + x] = blank;
    }
  }

  /** A line of background between rows. */
  separate(rowHeight) {
    const {view, image, pixels} = this, [r, g, b] = this.empty;
    const blank = 0xff000000 | (b << 16) | (g << 8) | r;
    for (let row = Math.ceil(view.r0); row < view.r1; ++row) {
      const y = Math.round((row - view.r0) * rowHeight) - 1;
      if (y > 0) pixels.fill(blank, y * image.width, (y + 1) * image.width);
    }
  }

  drawAxes(rowHeight) {
    const {context: c, view, samples, ratio, plot} = this;
    c.save();
    c.scale(ratio, ratio);
    c.font = this.font; c.fillStyle = this.text; c.strokeStyle = this.text; c.lineWidth = 1;
    const end = samples.head.end, span = (view.t1 - view.t0) * end, start = view.t0 * end;
    const step = roundStep(span / Math.max(2, plot.w / 110));
    c.textAlign = "center"; c.textBaseline = "top";
    for (let t = Math.ceil(start / step - 1e-9) * step; t <= start + span * (1 + 1e-9); t += step) {
      const x = plot.x + ((t - start) / span) * plot.w;
      c.globalAlpha = 0.5; line(c, x, plot.y + plot.h, x, plot.y + plot.h + 4); c.globalAlpha = 1;
      c.fillText(timeLabel(t, step), Math.min(x, plot.x + plot.w - 14), plot.y + plot.h + 7);
    }
    c.textAlign = "right"; c.textBaseline = "middle";
    const every = Math.max(1, niceCount(16 / rowHeight));
    for (let r = Math.ceil(Math.floor(view.r0) / every) * every; r < view.r1; r += every) {
      const y = plot.y + (r + 0.5 - view.r0) * rowHeight;
      if (y > plot.y && y < plot.y + plot.h) c.fillText(`rank ${samples.head.ranks[r]}`, plot.x - 8, y);
    }
    c.strokeStyle = this.ink; c.setLineDash([3, 3]);
    for (const move of this.movesInView()) {
      const x = plot.x + ((move.time - start) / span) * plot.w;
      const top = (move.first - view.r0) * rowHeight, bottom = (move.last + 1 - view.r0) * rowHeight;
      line(c, x, plot.y + Math.max(0, top), x, plot.y + Math.min(plot.h, bottom));
    }
    c.restore();
  }

  /** Those of the stretch and the ranks that are seen; none where they would hide the picture. */
  movesInView() {
    const {view} = this, end = this.samples.head.end;
    const seen = this.moves.filter(move => move.time >= view.t0 * end && move.time <= view.t1 * end &&
      move.last + 1 > view.r0 && move.first < view.r1);
    return seen.length <= this.lines ? seen : [];
  }

  /** What lies under a point of the canvas, in words; "" outside. */
  words(x, y) {
    const {view, samples, plot} = this, fx = (x - plot.x) / plot.w, fy = (y - plot.y) / plot.h;
    if (fx < 0 || fx >= 1 || fy < 0 || fy >= 1) return "";
    const rank = Math.min(samples.ranks - 1, Math.floor(view.r0 + fy * (view.r1 - view.r0)));
    if (rank >= samples.ready) return "";
    const s = samples.find(rank, (view.t0 + fx * (view.t1 - view.t0)) / samples.unit);
    const name = `rank ${samples.head.ranks[rank]}`;
    if (s >= samples.first[rank + 1] || samples.threads[s] === 0) return `${name}: nothing recorded`;
    const tick = samples.head.tick, start = s > samples.first[rank] ? samples.end[s - 1] : 0;
    const length = (samples.end[s] - start) * tick, shares = samples.shares.map(column => column[s] / 255);
    const share = value => `${Math.round(100 * value)}\u00a0%`;
    const computing = Math.max(0, 1 - shares.reduce((a, b) => a + b));
    const waits = samples.kinds.map((kind, k) => `${SAID[kind]} ${share(shares[k])}`).join(", ");
    return `${name}, ${(start * tick).toFixed(decimals(length / 10))} s, for ${duration(length)}: computing ` +
      `${share(computing)}, ${waits}, ` +
      `${samples.threads[s]} thread${samples.threads[s] === 1 ? "" : "s"}`;
  }
}

function line(c, x0, y0, x1, y1) { c.beginPath(); c.moveTo(x0, y0); c.lineTo(x1, y1); c.stroke(); }
function roundStep(raw) {
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].map(f => f * power).find(step => step >= raw * 0.999);
}
function niceCount(raw) { return raw <= 1 ? 1 : 2 ** Math.ceil(Math.log2(raw)); }
function decimals(step) { return Math.min(9, Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))); }
function timeLabel(t, step) { return `${t.toFixed(decimals(step))} s`; }
function duration(s) {
  const [unit, name] = s < 999.5e-6 ? [1e-6, "µs"] : s < 0.9995 ? [1e-3, "ms"] : [1, "s"];
  return `${(s / unit).toPrecision(3)} ${name}`;
}

/** Ties samples, view and charts to the pointer, the keys and the buttons. */
class Timeline {
  constructor(head, moves, lines, canvases) {
    this.samples = new Samples(head);
    const most = head.samples.reduce((a, b) => Math.max(a, b), 1);
    this.view = new View(this.samples.ranks, Math.max(0.2 / most, 8 * this.samples.unit));
    this.charts = canvases.map(canvas => new Chart(canvas, this.samples, this.view, moves, lines));
    this.tip = document.getElementById("tip");
    this.spent = 0; // ms that drawing all of it took last
    for (const chart of this.charts) this.listen(chart);
    this.restyle();
  }
  restyle() { for (const chart of this.charts) chart.colours(); this.redraw(); }
  resize() { for (const chart of this.charts) chart.resize(); this.draw(); }
  /** With the next frame. Where drawing all of it takes too long for moving pictures, a draft first, and all at rest. */
  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const draft = this.spent > 20;
      this.draw(draft);
      clearTimeout(this.rest);
      if (draft) this.rest = setTimeout(() => this.draw(), 150);
    });
  }
  draw(draft = false) {
    let spent = 0;
    for (const chart of this.charts) spent += chart.draw(draft);
    if (!draft) this.spent = spent;
    const whole = this.view.t1 - this.view.t0 > 0.9999 && this.view.r1 - this.view.r0 > this.view.rows - 1e-6;
    for (const reset of document.querySelectorAll("[data-zoom=whole]")) reset.disabled = whole;
    return spent;
  }
  /** To a stretch about one sample wide, in the middle of what is seen. */
  oneStep() {
    const {view, samples} = this, middle = (view.t0 + view.t1) / 2;
    const rank = Math.min(samples.ranks - 1, Math.floor((view.r0 + view.r1) / 2));
    const s = Math.min(samples.find(rank, middle / samples.unit), samples.first[rank + 1] - 1);
    const start = s > samples.first[rank] ? samples.end[s - 1] : 0, length = samples.end[s] - start;
    view.set((start - 0.1 * length) * samples.unit, (samples.end[s] + 0.1 * length) * samples.unit);
    this.redraw();
  }
  press(what) {
    if (what === "whole") this.view.whole();
    if (what === "in") this.view.zoom(0.5, 0.5, 0.5, true, false);
    if (what === "out") this.view.zoom(2, 0.5, 0.5, true, true);
    if (what === "ranks") this.view.zoom(0.5, 0.5, 0.5, false, true);
    if (what === "step") this.oneStep(); else this.redraw();
  }
  listen(chart) {
    const {canvas} = chart, {view} = this;
    const at = event => ({x: (event.offsetX - MARGIN.left) / (canvas.clientWidth - MARGIN.left - MARGIN.right),
                          y: (event.offsetY - MARGIN.top) / (canvas.clientHeight - MARGIN.top - MARGIN.bottom)});
    canvas.addEventListener("wheel", event => {
      if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls on
      event.preventDefault();
      const {x, y} = at(event);
      view.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY || event.deltaX)) * 0.006), x, y, !event.shiftKey, event.shiftKey);
      this.redraw();
    }, {passive: false});
    let from = null;
    canvas.addEventListener("pointerdown", event => { from = at(event); canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => { from = null; });
    canvas.addEventListener("pointermove", event => {
      const here = at(event);
      if (from) { view.pan(from.x - here.x, from.y - here.y); from = here; this.redraw(); }
      this.tip.textContent = chart.words(event.offsetX, event.offsetY);
      this.tip.hidden = !this.tip.textContent;
      this.tip.style.left = `${Math.min(event.clientX + 14, window.innerWidth - this.tip.offsetWidth - 8)}px`;
      this.tip.style.top = `${event.clientY + 18}px`;
    });
    canvas.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    canvas.addEventListener("dblclick", event => { const {x, y} = at(event); view.zoom(0.25, x, y); this.redraw(); });
    const keys = {"+": () => this.press("in"), "=": () => this.press("in"), "-": () => this.press("out"),
                  0: () => this.press("whole"), ArrowLeft: () => view.pan(-0.2, 0), ArrowRight: () => view.pan(0.2, 0),
                  ArrowUp: () => view.pan(0, -0.2), ArrowDown: () => view.pan(0, 0.2)};
    canvas.addEventListener("keydown", event => {
      if (!(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
      this.redraw();
    });
  }
}
