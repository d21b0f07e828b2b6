/** A body, as text or as bytes, and what it is an example of. */
export type Case = { what: string; body: string | Buffer }

const hex = (code: number) => code.toString(16).padStart(4, '0').toUpperCase()

// A value stands in a custom field, which takes any text or number.
const inField = (value: string) => `{"name":"A","custom_fields":{"a":${value}}}`

const signs = ['', '-']
const wholes = ['0', '7', '120']
const fractions = ['', '.0', '.25', '.125000']
const exponents = ['', 'e2', 'E+1', 'e-3']

/** Every shape of number that the grammar of RFC 8259 has. */
export const numbers: string[] = signs.flatMap((sign) =>
  wholes.flatMap((whole) =>
    fractions.flatMap((fraction) => exponents.map((exponent) => sign + whole + fraction + exponent)),
  ),
)

/** Texts as JSON may write them, with what they mean. */
export const texts: [written: string, meant: string][] = [
  ['""', ''],
  ['"\\"\\\\\\/\\b\\f\\n\\r\\t."', '"\\/\b\f\n\r\t.'],
  ['"\\u0041\\u00e9\\u00E9\\u20ac"', 'Aéé€'],
  ['"\\ud83d\\ude00"', '😀'],
  ['"\\uD834\\udd1e😀"', '𝄞😀'],
  ['"\\u0001\\u001f\\u007f"', '\u0001\u001f\u007f'],
  ['"\u007f\u0080\u009f"', '\u007f\u0080\u009f'],
  ['"\u2028\u2029"', '\u2028\u2029'],
  ['"\ufffe\uffff\u{10ffff}"', '\ufffe\uffff\u{10ffff}'],
  ['"[1,{}]//*"', '[1,{}]//*'],
  ['"\\\\u0041"', '\\u0041'],
  ['"\u200b\ufeff\u00a0."', '\u200b\ufeff\u00a0.'],
  ['"\\u2028\\u00A0x"', '\u2028\u00a0x'],
  ['"e\u0301"', 'e\u0301'],
]

const blanks = ['', ' ', '\t', '\n', '\r', ' \r\n\t ']

/** Whole documents that are JSON, each of a company named A. */
export const documents: string[] = [
  ...blanks.map((blank) => `${blank}{${blank}"name"${blank}:${blank}"A"${blank}}${blank}`),
  '{"name":"A","custom_fields":{}}',
  '{"name":"A","custom_fields":null}',
  '{"name":"B","name":"A"}',
  '{"\\u006eame":"\\u0041"}',
  '{"name":"A","custom_fields":{"a":true,"b":false,"c":null}}',
]

// Characters in place of a part of a number, which make it invalid.
const bad_signs = ['+', '--', '-+', '+-', '- ', '−']
const bad_wholes = ['00', '01', '-01', '0x1F', '0b1', '0o7', '1_000', '１', '1 2', '²', '1n', '0L']
const bad_fractions = ['.', '..1', '.1.', '.e1', ',5', '.-1', '._1']
const bad_exponents = ['e', 'E', 'e+', 'e-', 'ee1', 'e1.5', 'e 1', 'e+-1', 'e0x1', '^2']
const bad_numbers = [
  ...bad_signs.map((sign) => `${sign}1`),
  ...bad_wholes,
  ...bad_fractions.map((fraction) => `1${fraction}`),
  ...['.5', '-.5', '.', '-', '+', 'e5', '-e5'],
  ...bad_exponents.flatMap((exponent) => [`1${exponent}`, `-0.5${exponent}`]),
  ...['NaN', '-NaN', 'Infinity', '-Infinity', 'inf', '1.0.0', '1/2', '5%', '$1'],
]

const bad_escapes = [..."aAvVxUeE0123456789'`#-()&é"].map((sign) => `"\\${sign}"`)
const bad_unicode = [
  '"\\u"',
  '"\\u1"',
  '"\\u12"',
  '"\\u123"',
  '"\\u12G4"',
  '"\\u-123"',
  '"\\u{41}"',
  '"\\u 041"',
  '"\\U0041"',
  '"\\u０041"',
]
const bad_quotes = [
  "'A'",
  '`A`',
  '“A”',
  '«A»',
  '"A',
  'A"',
  'A',
  '"A\\"',
  '"A\\',
  '"',
  '\\"A"',
  '""A""',
  '"A" "B"',
  '"A"+"B"',
  '\'A"',
  '"""A"""',
]
// Each control character must be escaped.
const raw_controls = Array.from({ length: 32 }, (_, code) => `"a${String.fromCharCode(code)}b"`)

const words = [
  'True',
  'TRUE',
  'tru',
  'truee',
  'False',
  'fals',
  'Null',
  'NULL',
  'nul',
  'nil',
  'None',
  'undefined',
  'void 0',
  'new Date()',
  '() => 1',
  '/a/',
]

// Characters that look like white space but are invalid in JSON, before, between and after values.
const no_blanks = [
  '\u000b',
  '\u000c',
  '\u00a0',
  '\u0085',
  '\u1680',
  '\u2003',
  '\u2028',
  '\u2029',
  '\u200b',
  '\u3000',
  '\u0000',
]
const misplaced = no_blanks.flatMap((sign) => [
  `${sign}{"name":"A"}`,
  `{"name":${sign}"A"}`,
  `{"name":"A"}${sign}`,
])

const whole = [
  '{',
  '"name"',
  ':',
  '"A"',
  ',',
  '"custom_fields"',
  ':',
  '{',
  '"a"',
  ':',
  '1',
  ',',
  '"b"',
  ':',
  'null',
  '}',
  '}',
]

/** The document with one token left out, doubled, or in another's place, unless it is JSON still. */
function mutations(): string[] {
  const found = new Set<string>()
  const strange = ['{', '}', '[', ']', ':', ',', ';', '=', '=>', '(', '<', '//', '/**/', '#', '...']
  for (const at of whole.keys()) {
    const token = whole[at] as string
    found.add(whole.toSpliced(at, 1).join(''))
    found.add(whole.toSpliced(at, 0, token).join(''))
    for (const sign of strange) found.add(whole.toSpliced(at, 1, sign).join(''))
    found.add(whole.slice(0, at).join(''))
  }
  return [...found].filter((text) => text !== '' && !isJson(text))
}

// The runtime's own parser: the service reads with another one.
function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const inText = (...bytes: number[]) =>
  Buffer.concat([Buffer.from('{"name":"'), Buffer.from(bytes), Buffer.from('"}')])
const inKey = (...bytes: number[]) =>
  Buffer.concat([Buffer.from('{"name":"A","'), Buffer.from(bytes), Buffer.from('":1}')])

// Bytes that are not UTF-8: lone continuations, cut sequences, overlong ones, surrogates, beyond Unicode.
const bad_bytes = [
  [0x80],
  [0xbf],
  [0xff],
  [0xfe],
  [0xc3],
  [0xe2, 0x82],
  [0xf0, 0x9f, 0x98],
  [0xc0, 0xaf],
  [0xc1, 0xbf],
  [0xe0, 0x80, 0xaf],
  [0xf0, 0x80, 0x80, 0xaf],
  [0xed, 0xa0, 0x80],
  [0xed, 0xbf, 0xbf],
  [0xed, 0xa0, 0xbd, 0xed, 0xb8, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf8, 0x88, 0x80, 0x80, 0x80],
  [0xe9],
]

/** Documents that are not JSON: 400 for each. */
export const invalid: Case[] = [
  ...bad_numbers.map((text) => ({ what: `number ${text}`, body: inField(text) })),
  ...bad_escapes.map((text) => ({ what: `escape ${text}`, body: inField(text) })),
  ...bad_unicode.map((text) => ({ what: `escape ${text}`, body: inField(text) })),
  ...bad_quotes.map((text) => ({ what: `text ${text}`, body: inField(text) })),
  ...raw_controls.map((text, code) => ({ what: `U+${hex(code)} in a text`, body: inField(text) })),
  ...words.map((text) => ({ what: `word ${text}`, body: inField(text) })),
  ...misplaced.map((body) => ({ what: `blank ${JSON.stringify(body)}`, body })),
  ...mutations().map((body) => ({ what: body, body })),
  ...bad_bytes.flatMap((bytes) => [
    { what: `bytes ${bytes} in a text`, body: inText(...bytes) },
    { what: `bytes ${bytes} in a key`, body: inKey(...bytes) },
  ]),
]

/** Inputs that the standard leaves to the reader, and how this service treats them. */
export const left_open: (Case & { status: number; shown?: unknown })[] = [
  ...['1e400', '-1e400', '1E+9999', `${'9'.repeat(400)}`, `-${'9'.repeat(400)}.5`].map((text) => ({
    what: `beyond a double: ${text.slice(0, 12)}`,
    body: inField(text),
    status: 422,
  })),
  ...(
    [
      ['1e-400', 0],
      ['-1e-400', 0],
      ['123456789012345678901', 123456789012345680000],
      ['0.1000000000000000055511151231257827', 0.1],
      ['9007199254740993', 9007199254740992],
      [`0.${'0'.repeat(300)}1`, 1e-301],
      ['1.7976931348623157e308', 1.7976931348623157e308],
      ['5e-324', 5e-324],
      ['-0', 0],
      ['-0.0e5', 0],
    ] as const
  ).map(([text, shown]) => ({
    what: `the nearest double of ${text.slice(0, 12)}`,
    body: inField(text),
    status: 201,
    shown,
  })),
  ...[
    '\\ud800',
    '\\udc00',
    '\\ud800\\ud800',
    '\\udc00\\ud800',
    'a\\udbff',
    '\\ud83dx\\ude00',
    '\\uD800\\n',
    '\\u0000',
    'a\\u0000b',
  ].map((text) => ({
    what: `no text that can be stored: ${text}`,
    body: inField(`"${text}"`),
    status: 422,
  })),
  ...['utf16le', 'latin1'].map((encoding) => ({
    what: `encoded as ${encoding}`,
    body: Buffer.from('\ufeff{"name":"é"}', encoding as BufferEncoding),
    status: 400,
  })),
  {
    what: 'UTF-16 of the other order',
    body: Buffer.from('\ufeff{"name":"é"}', 'utf16le').swap16(),
    status: 400,
  },
  { what: 'a byte order mark', body: '\ufeff{"name":"A"}', status: 201 },
  { what: 'two byte order marks', body: '\ufeff\ufeff{"name":"A"}', status: 400 },
  { what: 'deeper than 64', body: inField('['.repeat(70) + ']'.repeat(70)), status: 400 },
  { what: 'no object', body: '[]', status: 422 },
  { what: 'null', body: 'null', status: 422 },
  { what: 'a text', body: '"A"', status: 422 },
  { what: 'a number', body: '1', status: 422 },
  { what: 'a nested array where a value must be plain', body: inField('[[]]'), status: 422 },
]
