const block = 512

/** A file of a tar archive (POSIX ustar), with its header. `modified_s` is a Unix time. */
export function tarFile(name: string, content: Buffer, modified_s: number): Buffer {
  const header = Buffer.alloc(block)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  header.write(name, 0, 100)
  header.write(`${octal(0o644, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100)
  header.write(`${octal(content.length, 11)}\0${octal(modified_s, 11)}\0`, 124)
  // The checksum counts its own field as blanks.
  header.write(`${' '.repeat(8)}0`, 148)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((all, byte) => all + byte, 0)
  header.write(`${octal(sum, 6)}\0 `, 148)
  const padding = Buffer.alloc((block - (content.length % block)) % block)
  return Buffer.concat([header, content, padding])
}

/** The end of a tar archive. */
export const tar_end = Buffer.alloc(2 * block)
