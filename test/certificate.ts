import { generateKeyPairSync, sign } from 'node:crypto'

/** A self-signed certificate, made here so that its dates and names can be wrong. */
export function certificate(
  names: { dns?: string; ip?: number[]; authority?: string },
  valid_from: number,
  valid_to: number,
) {
  const der = (tag: number, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts)
    const length = content.length < 128 ? [content.length] : [0x82, content.length >> 8, content.length & 255]
    return Buffer.concat([Buffer.from([tag, ...length]), content])
  }
  const sequence = (...parts: Uint8Array[]) => der(0x30, ...parts)
  const oid = (hex: string) => der(6, Buffer.from(hex, 'hex'))
  const utc = (at: number) => {
    const digits = new Date(at).toISOString().replace(/\D/g, '').slice(2, 14)
    return der(0x17, Buffer.from(`${digits}Z`))
  }
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsa_with_sha256 = sequence(oid('2a8648ce3d040302'))
  const name = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(names.authority ?? 'test')))))
  const alternatives = [
    names.dns === undefined ? [] : [der(0x82, Buffer.from(names.dns))],
    names.ip === undefined ? [] : [der(0x87, Buffer.from(names.ip))],
  ].flat()
  const extension = sequence(oid('551d11'), der(4, sequence(...alternatives)))
  const content = sequence(
    der(0xa0, der(2, Buffer.from([2]))),
    der(2, Buffer.from([1])),
    ecdsa_with_sha256,
    name,
    sequence(utc(valid_from), utc(valid_to)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(extension)),
  )
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', content, privateKey)])
  const whole = sequence(content, ecdsa_with_sha256, der(3, signature)).toString('base64')
  const cert = `-----BEGIN CERTIFICATE-----\n${whole.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`
  return { cert, key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string }
}
