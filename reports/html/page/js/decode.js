// Bytes as numbers: exact decoding of every element type that a cache may hold.

function fromBase64(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

/** OCP e4m3fn: 0x7F and 0xFF are NaN, there is no infinity. */
function decodeE4m3(code) {
  const sign = code & 0x80 ? -1 : 1;
  const exponent = (code >> 3) & 0xf;
  const mantissa = code & 7;
  if (exponent === 15 && mantissa === 7) return NaN;
  if (exponent === 0) return sign * mantissa * 2 ** -9;
  return sign * (1 + mantissa / 8) * 2 ** (exponent - 7);
}

/** OCP e5m2: the upper half of an IEEE binary16. */
function decodeE5m2(code) {
  const sign = code & 0x80 ? -1 : 1;
  const exponent = (code >> 2) & 0x1f;
  const mantissa = code & 3;
  if (exponent === 31) return mantissa ? NaN : sign * Infinity;
  if (exponent === 0) return sign * mantissa * 2 ** -16;
  return sign * (1 + mantissa / 4) * 2 ** (exponent - 15);
}

/** bfloat16: the upper half of an IEEE binary32. */
function decodeBf16(bits) {
  const view = new DataView(new ArrayBuffer(4));
  view.setUint32(0, bits * 0x10000);
  return view.getFloat32(0);
}

const DTYPES = {
  bf16: {size: 2, read: (view, at) => decodeBf16(view.getUint16(at, true))},
  fp8_e4m3: {size: 1, read: (view, at) => decodeE4m3(view.getUint8(at))},
  fp8_e5m2: {size: 1, read: (view, at) => decodeE5m2(view.getUint8(at))},
  f32: {size: 4, read: (view, at) => view.getFloat32(at, true)},
  i32: {size: 4, read: (view, at) => view.getInt32(at, true)},
  i64: {size: 8, read: (view, at) => view.getBigInt64(at, true)},
  u8: {size: 1, read: (view, at) => view.getUint8(at)},
};

/** The whole elements of `bytes`; an unknown type is read as bytes. */
function decodeElements(dtype, bytes) {
  const {size, read} = DTYPES[dtype] ?? DTYPES.u8;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({length: Math.floor(bytes.length / size)}, (_, i) => read(view, i * size));
}

function elementSize(dtype) {
  return (DTYPES[dtype] ?? DTYPES.u8).size;
}

function elementText(value) {
  return typeof value === 'bigint' ? String(value) : figure(value);
}

function hexByte(byte) {
  return byte.toString(16).padStart(2, '0');
}

/** First element whose bytes differ, or 0. */
function firstDifference(dtype, a, b) {
  const at = a.findIndex((byte, i) => byte !== b[i]);
  return at < 0 ? 0 : Math.floor(at / elementSize(dtype));
}
