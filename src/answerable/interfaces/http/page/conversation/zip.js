/** A zip of text files, uncompressed. */

// 1 January 1980, the first day that a zip can tell; bit 11 says that names are UTF-8.
const DAY = 0x21;
const UTF8 = 0x800;

const checksum = (bytes) => {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
};

/** Numbers of two bytes, and in brackets of four, the lowest first. */
const numbers = (...values) =>
  Uint8Array.from(
    values.flatMap((value) => Array.from({ length: value.length ? 4 : 2 }, (_, at) => (value >>> (8 * at)) & 0xff)),
  );

/** The zip, of texts by name. */
export const zipOf = (files, type) => {
  const [encoder, parts, listed] = [new TextEncoder(), [], []];
  let start = 0;
  for (const [name, content] of Object.entries(files).map((pair) => pair.map((text) => encoder.encode(text)))) {
    const size = content.length;
    const head = [20, UTF8, 0, 0, DAY, [checksum(content)], [size], [size], name.length, 0];
    parts.push(numbers([0x04034b50], ...head), name, content);
    listed.push(numbers([0x02014b50], 20, ...head, 0, 0, 0, [0], [start]), name);
    start += 30 + name.length + size;
  }
  const count = listed.length / 2;
  const length = listed.reduce((sum, each) => sum + each.length, 0);
  return new Blob([...parts, ...listed, numbers([0x06054b50], 0, 0, count, count, [length], [start], 0)], { type });
};
