// Arrays as lmviz/pages/numbers.py packs them.
function unpacked(packed) {
  const count = packed.shape.reduce((product, size) => product * size, 1);
  if (packed.values) return Float32Array.from(packed.values, plainNumber);
  const text = atob(packed.float32 || packed.int16 || packed.int32);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  const view = new DataView(bytes.buffer);
  let found;
  if (packed.float32) found = Float32Array.from({ length: bytes.length / 4 }, (_, at) => view.getFloat32(4 * at, true));
  else if (packed.int32) found = Int32Array.from({ length: bytes.length / 4 }, (_, at) => view.getInt32(4 * at, true));
  else {
    const scale = Math.pow(10, packed.digits);
    found = Float64Array.from({ length: bytes.length / 2 }, (_, at) => view.getInt16(2 * at, true) / scale);
  }
  return packed.triangle ? squared(found, packed.shape, count) : found;
}

function plainNumber(value) {
  return value === null ? NaN : value === "inf" ? Infinity : value === "-inf" ? -Infinity : value;
}

// The numbers up to the diagonal of each square, put where they belong.
function squared(found, shape, count) {
  const size = shape[shape.length - 1], whole = new Float64Array(count);
  let from = 0;
  for (let start = 0; start < count; start += size * size)
    for (let row = 0; row < size; row++)
      for (let column = 0; column <= row; column++) whole[start + row * size + column] = found[from++];
  return whole;
}
