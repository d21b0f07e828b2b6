// runs: once
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import ipaddr from 'ipaddr.js'
import { resolveHost } from '../delivery/resolve.ts'
import { addressAllowed, checkUrl, parseNetworks, type TargetPolicy } from './target.ts'

const strict: TargetPolicy = { allowed_networks: [], allow_private: false }
const at_home: TargetPolicy = { allowed_networks: [], allow_private: true }
const allowing = (list: string): TargetPolicy => ({
  allowed_networks: parseNetworks(list),
  allow_private: false,
})
const wide_open: TargetPolicy = { allowed_networks: parseNetworks('0.0.0.0/0, ::/0'), allow_private: true }

const never = () => assert.fail('a name was resolved')
const unresolvable = () => Promise.reject(new Error('ENOTFOUND'))
function leadsTo(...addresses: string[]) {
  return () => Promise.resolve(addresses)
}

const loopback = ['127.0.0.1', '127.255.255.254', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1']
const private_ones = ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12:3456::1']
// biome-ignore format: a table
const never_public = [
  '0.0.0.0', '0.1.2.3', '100.64.0.1', '100.127.255.255', '168.63.129.16', '192.0.0.1', '192.0.2.1', '192.88.99.1',
  '198.18.0.1', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255',
  '::', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'ff02::1', '100::1', '100:0:0:1::1', '4000::1', '5f00::1', '2001:db8::1',
  '2001:2::1', '2001:10::1', '3fff::1', '2002:808:808::1', '2001:0:808:808::1',
]
const carrying = (dotted: string) => {
  const [a, b, c, d] = ipaddr.IPv4.parse(dotted).octets as [number, number, number, number]
  const two = (x: number, y: number) => ((x << 8) | y).toString(16)
  const [high, low] = [two(a, b), two(c, d)]
  return {
    mapped: `::ffff:${high}:${low}`,
    compatible: `::${high}:${low}`,
    translated: `::ffff:0:${high}:${low}`,
    nat64: `64:ff9b::${high}:${low}`,
    nat64_local_96: `64:ff9b:1::${high}:${low}`,
    nat64_local_48: `64:ff9b:1:${high}:${two(0, c)}:${two(d, 0)}::`,
    nat64_local_64: `64:ff9b:1:0:${two(0, a)}:${two(b, c)}:${two(d, 0)}:0`,
    six_to_four: `2002:${high}:${low}::1`,
    teredo: `2001:0:808:808:0:0:${two(a ^ 255, b ^ 255)}:${two(c ^ 255, d ^ 255)}`,
    teredo_server: `2001:0:${high}:${low}::1`,
    isatap: `2606:4700::5efe:${high}:${low}`,
  }
}

test('public addresses are allowed, in IPv4, in IPv6 and through NAT64', () => {
  const open = ['1.1.1.1', '8.8.8.8', '100.63.255.255', '100.128.0.1', '172.32.0.1', '223.255.255.255']
  const open6 = ['2606:4700:4700::1111', '2a00:1450:4001::1', '::ffff:8.8.8.8', carrying('8.8.8.8').nat64]
  for (const address of [...open, ...open6]) assert.equal(addressAllowed(address, strict), true, address)
})

test('an address that is not globally routable is refused', () => {
  for (const address of [...loopback, ...private_ones, ...never_public]) {
    assert.equal(addressAllowed(address, strict), false, address)
  }
})

test('a server on loopback may also reach loopback and private addresses, and nothing else', () => {
  for (const address of [...loopback, ...private_ones])
    assert.equal(addressAllowed(address, at_home), true, address)
  for (const address of never_public) assert.equal(addressAllowed(address, at_home), false, address)
})

test('an IPv4 address that is carried inside an IPv6 address gains nothing', () => {
  for (const inner of ['127.0.0.1', '10.0.0.1', '192.168.1.1', '169.254.169.254']) {
    for (const [form, address] of Object.entries(carrying(inner))) {
      assert.equal(addressAllowed(address, strict), false, `${form} of ${inner}: ${address}`)
      if (form !== 'mapped') assert.equal(addressAllowed(address, at_home), false, `${form} of ${inner}`)
    }
  }
})

test('cloud metadata is always refused, also when a network list contains it and in every carried form', () => {
  const forms = [
    '169.254.169.254',
    '169.254.0.1',
    'fd00:ec2::254',
    ...Object.values(carrying('169.254.169.254')),
  ]
  for (const address of forms) assert.equal(addressAllowed(address, wide_open), false, address)
  assert.equal(addressAllowed('169.254.169.254', allowing('169.254.169.254/32')), false)
  assert.equal(addressAllowed('fd00:ec2::254', allowing('fd00:ec2::/32')), false)
  assert.equal(addressAllowed('fd00:ec2::253', allowing('fd00:ec2::/32')), true)
})

test('allowed networks add exactly what they contain', () => {
  const policy = allowing('10.1.0.0/16, 127.0.0.1, fd00:1::/64, 100.64.0.0/10,')
  for (const address of [
    '10.1.255.255',
    '127.0.0.1',
    '::ffff:10.1.0.1',
    'fd00:1::9',
    '100.100.1.1',
    '8.8.8.8',
  ]) {
    assert.equal(addressAllowed(address, policy), true, address)
  }
  for (const address of ['10.2.0.1', '127.0.0.2', 'fd00:1:0:1::9', '::1', '192.168.0.1']) {
    assert.equal(addressAllowed(address, policy), false, address)
  }
  assert.equal(addressAllowed('10.0.0.9', allowing('::ffff:10.0.0.0/104')), true)
  assert.deepEqual(parseNetworks(''), [])
})

test('what is no address is never allowed', () => {
  for (const text of ['', 'localhost', '127.1', '0x7f000001', '1.1.1.1/32', '[::1]', '1.1.1.1 ']) {
    assert.equal(addressAllowed(text, wide_open), false, text)
  }
})

test('every IPv4 address is judged like its mapped IPv6 form', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const { mapped } = carrying(address)
      for (const policy of [strict, at_home, allowing('10.0.0.0/8')]) {
        assert.equal(addressAllowed(mapped, policy), addressAllowed(address, policy), address)
      }
    }),
  )
})

test('a network that is not in CIDR form is an error that quotes it', () => {
  const bad = [
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    '10/8',
    'example.com',
    '10.0.0.0/',
    '10.0.0.0/-1',
    '1.1.1.1/8/8',
  ]
  for (const entry of [...bad, '010.0.0.0/8', 'fe80::1%eth0/64', '/8']) {
    assert.throws(
      () => parseNetworks(`127.0.0.0/8,${entry}`),
      (error: Error) =>
        error.message.includes('WEBHOOK_ALLOWED_NETWORKS') && error.message.includes(`"${entry}"`),
      entry,
    )
  }
})

test('a plain http or https URL is accepted and kept as it was written', async () => {
  const good = [
    'http://8.8.8.8',
    'https://[2606:4700:4700::1111]:8443/a?b=c',
    'HTTPS://Example.COM/Päth?q=%20',
    'http://example.com:80/',
  ]
  for (const url of [...good, `http://example.com/${'x'.repeat(2029)}`]) {
    assert.deepEqual(await checkUrl(url, strict, leadsTo('8.8.8.8')), { url })
  }
})

test('a URL that a parser would read differently from a person is refused', async () => {
  // biome-ignore format: a table
  const bad = [
    '', 'example.com', '//example.com', 'ftp://example.com', 'file:///etc/passwd', 'javascript:alert(1)', 'gopher://x/',
    'http:example.com', 'http:/example.com', 'http:///example.com', 'http://', 'https://?x', 'http:\\\\example.com',
    'http://exam\tple.com/', 'http://example.com/\n', ' http://example.com', 'http://example.com/a b', '\u0000http://a.b',
    'http://example.com/\r\nHost: x', 'http://example.com\\@127.0.0.1/', 'http://exa\u00admple.com', 'http://a\u3000b.c',
    'http://user:password@example.com', 'http://user@example.com', 'http://@example.com', 'http://:@example.com/',
    'http://example.com/#part', 'http://example.com/#', 'http://example.com#', 'http://#@example.com/',
    'http://example.com:0/', 'http://example.com:00', 'http://example.com:65536', 'http://example.com:x/', 'http://:80/',
    'http://[::1', 'http://[::1%25eth0]/', 'http://1.2.3.256/', 'http://1.2.3.4.5/', 'http://%00/', 'http://a\ud800b.c',
    `http://example.com/${'x'.repeat(2030)}`,
  ]
  for (const url of bad) {
    const result = await checkUrl(url, wide_open, leadsTo('8.8.8.8'))
    assert.equal('code' in result && result.code, 'invalid_url', JSON.stringify(url))
  }
})

// biome-ignore format: a table
const loopback_urls = [
  'http://127.0.0.1/', 'http://2130706433/', 'http://0x7f000001/', 'http://0x7f.1/', 'http://017700000001/',
  'http://0177.0.0.1/', 'http://127.1/', 'http://127.0.1:8080/', 'http://１２７.０.０.１/', 'http://127。0。0。1/',
  'http://%31%32%37.0.0.1/', 'http://127.0.0.1./', 'http://[::1]/', 'http://[0:0:0:0:0:0:0:1]:80/',
  'http://[::ffff:7f00:1]/', 'http://[::ffff:127.0.0.1]/', 'http://①②⑦.⓪.⓪.①/',
]
const private_urls = [
  'http://10.0.0.1',
  'http://167772161',
  'http://192.168.257',
  'http://[fd00::1]/',
  'http://172.16.1',
]
// biome-ignore format: a table
const refused_urls = [
  'http://[::7f00:1]/', 'http://[64:ff9b::7f00:1]/', 'http://[64:ff9b::a9fe:a9fe]/', 'http://[2002:7f00:1::]/',
  'http://[fd00:ec2::254]/', 'http://169.254.169.254/latest', 'http://0251.0376.0251.0376/', 'http://2852039166/',
  'http://0/', 'http://0.0.0.0:3000/', 'http://[::]/', 'http://[fe80::1]/', 'http://[::ffff:a9fe:a9fe]/',
]

test('an IP address in any spelling is checked as an address, without a lookup', async () => {
  for (const url of [...loopback_urls, ...private_urls, ...refused_urls]) {
    const result = await checkUrl(url, strict, never)
    assert.equal('code' in result && result.code, 'url_not_allowed', url)
    assert.match('message' in result ? result.message : '', /WEBHOOK_ALLOWED_NETWORKS/)
  }
  for (const url of [...loopback_urls, ...private_urls])
    assert.deepEqual(await checkUrl(url, at_home, never), { url })
  for (const url of refused_urls) assert.ok('code' in (await checkUrl(url, at_home, never)), url)
})

test('a name is refused if any of its addresses is, and the message does not tell them', async () => {
  for (const inner of ['127.0.0.1', '10.9.8.7', '::1', '169.254.169.254']) {
    const result = await checkUrl('https://hooks.example/x', strict, leadsTo('8.8.8.8', inner, '1.1.1.1'))
    assert.equal('code' in result && result.code, 'url_not_allowed', inner)
    assert.match('message' in result ? result.message : '', /^url is not allowed: hooks\.example leads to /)
    assert.equal(JSON.stringify(result).includes(inner), false)
  }
})

test('localhost is loopback in every spelling', async () => {
  for (const url of ['http://localhost/', 'http://LOCALHOST.:3000/', 'http://a.localhost/']) {
    assert.ok('code' in (await checkUrl(url, strict)), url)
    assert.deepEqual(await checkUrl(url, at_home), { url })
  }
  assert.deepEqual(await resolveHost('localhost.'), ['127.0.0.1', '::1'])
})

test('a name that does not resolve yet is accepted', async () => {
  const url = 'https://not-yet.example/hook'
  assert.deepEqual(await checkUrl(url, strict, unresolvable), { url })
})

test('a name server that never answers delays a registration by three seconds, then the name is accepted', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const url = 'https://slow.example/hook'
  let waiting = true
  const result = checkUrl(url, strict, () => new Promise(() => {})).finally(() => {
    waiting = false
  })
  t.mock.timers.tick(2999)
  await new Promise(setImmediate)
  assert.equal(waiting, true)
  t.mock.timers.tick(1)
  assert.deepEqual(await result, { url })
})
