// runs: once
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { scratchFolder } from '../test/process.ts'
import { ConfigError, describeConfig, readConfig } from './config.ts'

test('without any variable the settings are those of the documentation', () => {
  assert.deepEqual(readConfig({}), {
    port: 3000,
    host: '127.0.0.1',
    public_url: null,
    data_dir: './data',
    database_url: null,
    database_replica_url: null,
    database_pool_size: 10,
    redis_url: null,
    web_concurrency: 1,
    secret_key: null,
    secret_key_old: null,
    webhook_retry_delays: [60, 300, 1800],
    webhook_timeout_ms: 10_000,
    webhook_allowed_networks: [],
    webhook_proxy_url: null,
    webhook_ca_file: null,
    smtp_url: null,
    smtp_ca_file: null,
    smtp_timeout_ms: 30_000,
    mail_from: null,
    mail_reply_to: null,
    mail_retry_delays: [60, 300, 1800, 7200, 28_800, 86_400],
    mail_log_days: 30,
    max_import_mb: 1024,
    max_webhooks: 100,
    delivery_log_days: 30,
    audit_log_days: null,
    sign_in_address_days: 30,
    trash_days: 30,
    rate_limit_per_second: 100,
    booking_rate_per_second: 5,
    open_rate_per_second: 10,
    trusted_proxies: [],
    cors_origins: [],
    tzdir: '/usr/share/zoneinfo',
    log_level: 'warn',
    otel_sdk_disabled: 'false',
    otel_traces_exporter: null,
    otel_metrics_exporter: 'prometheus',
    otel_exporter_otlp_endpoint: null,
    otel_exporter_otlp_traces_endpoint: null,
    otel_exporter_otlp_protocol: null,
    otel_exporter_otlp_traces_protocol: null,
    otel_exporter_otlp_headers: null,
    otel_exporter_otlp_traces_headers: null,
    otel_exporter_otlp_timeout: 10_000,
    otel_exporter_otlp_traces_timeout: null,
    otel_service_name: null,
    otel_resource_attributes: null,
    otel_traces_sampler: 'parentbased_traceidratio',
    otel_traces_sampler_arg: 1,
  })
})

test('variables are trimmed; an empty one counts as absent', () => {
  const config = readConfig({
    PORT: ' 0 ',
    HOST: '0.0.0.0',
    DATA_DIR: '/var/lib/rapport',
    SECRET_KEY: 'a secret',
    WEBHOOK_RETRY_DELAYS: '1, 2.5 ,0',
    WEBHOOK_TIMEOUT_MS: '250',
    WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8, fd12::/16',
    RATE_LIMIT_PER_SECOND: '0',
    LOG_LEVEL: '',
    UNKNOWN: 'is not ours',
  })
  assert.deepEqual(config.webhook_retry_delays, [1, 2.5, 0])
  assert.deepEqual(config.webhook_allowed_networks, ['10.0.0.0/8', 'fd12::/16'])
  const { port, host, data_dir, secret_key, webhook_timeout_ms, rate_limit_per_second, log_level } = config
  assert.deepEqual(
    [port, host, data_dir, secret_key, webhook_timeout_ms, rate_limit_per_second, log_level],
    [0, '0.0.0.0', '/var/lib/rapport', 'a secret', 250, 0, 'warn'],
  )
})

test('attributes of traces may have values that a header cannot have', () => {
  const { otel_resource_attributes } = readConfig({ OTEL_RESOURCE_ATTRIBUTES: 'team=%E2%82%AC,text=a%0Ab' })
  assert.deepEqual(otel_resource_attributes, { team: '€', text: 'a\nb' })
})

test('PUBLIC_URL is read as an origin: lower case, without a final slash or the default port', () => {
  for (const given of ['https://crm.example.com', 'https://crm.example.com/', 'HTTPS://CRM.example.com:443'])
    assert.equal(readConfig({ PUBLIC_URL: given }).public_url, 'https://crm.example.com')
  assert.equal(readConfig({ PUBLIC_URL: 'http://[::1]:8080/' }).public_url, 'http://[::1]:8080')
})

test('CORS_ORIGINS and WEBHOOK_PROXY_URL are read as browsers and proxies write them', () => {
  const read = (value: string) => readConfig({ CORS_ORIGINS: value }).cors_origins
  assert.deepEqual(read('*'), ['*'])
  assert.deepEqual(read('https://App.example.com:443/ , http://localhost:5173,'), [
    'https://app.example.com',
    'http://localhost:5173',
  ])
  const proxied = readConfig({ WEBHOOK_PROXY_URL: 'http://me:p%40ss@proxy:3128' })
  assert.equal(proxied.webhook_proxy_url, 'http://me:p%40ss@proxy:3128/')
})

test('every wrong value is refused, with its name and what would be right', () => {
  const wrong: Record<string, string[]> = {
    DATA_DIR: [import.meta.filename],
    PORT: ['-1', '65536', '80a', '3e3', '0x50', '1.5', 'http'],
    PUBLIC_URL: [
      'crm.example.com',
      'ftp://crm.example.com',
      'https://crm.example.com/crm',
      'https://crm.example.com/?a',
      'https://crm.example.com/?',
      'https://crm.example.com/#',
      'https://user@crm.example.com',
      'https://',
    ],
    OTEL_TRACES_EXPORTER: ['jaeger', 'otlp,none'],
    OTEL_METRICS_EXPORTER: ['otlp', 'console'],
    OTEL_EXPORTER_OTLP_PROTOCOL: ['grpc', 'http/protobuf'],
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: ['grpc'],
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['collector:4318', 'http://user@localhost:4318/v1/traces'],
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: ['key'],
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: ['0', '5s'],
    OTEL_TRACES_SAMPLER: ['jaeger_remote', 'always'],
    OTEL_EXPORTER_OTLP_ENDPOINT: [
      'localhost:4318',
      'ftp://localhost',
      'http://user@localhost:4318',
      'http://user:password@localhost:4318',
      'http://:password@localhost:4318',
      'http://localhost:4318/?key=a',
      'http://localhost:4318/#a',
      'http://localhost:4318?',
    ],
    OTEL_EXPORTER_OTLP_HEADERS: ['key', 'a key=b', 'kéy=b', 'key=a%0Ab', 'key=%E2%82%AC'],
    OTEL_RESOURCE_ATTRIBUTES: ['team', '=x', 'a=%'],
    OTEL_TRACES_SAMPLER_ARG: ['2', '-1', 'half', '1.5'],
    DATABASE_URL: ['localhost:5432', 'mysql://localhost/rapport', 'data.db'],
    DATABASE_REPLICA_URL: ['replica'],
    DATABASE_POOL_SIZE: ['1', '1001'],
    REDIS_URL: ['localhost:6379', 'http://localhost'],
    WEB_CONCURRENCY: ['0', '257', 'auto'],
    WEBHOOK_RETRY_DELAYS: ['60,', 'a', '-1', '1;2', '60 300', '1e3', '99999999', ','],
    WEBHOOK_TIMEOUT_MS: ['0', '600001', '1s'],
    WEBHOOK_ALLOWED_NETWORKS: [
      '10.0.0.0',
      '10.0.0.0/33',
      '10.0.0/8',
      'fd12::/129',
      'localhost/8',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      '*',
    ],
    WEBHOOK_PROXY_URL: [
      'proxy:3128',
      'https://proxy:3128',
      'socks5://proxy',
      'http://proxy/path',
      'http://proxy/?a',
      'http://%0A@proxy',
      'http://%@proxy',
    ],
    CORS_ORIGINS: [
      'app.example.com',
      'https://app.example.com/app',
      'https://*.example.com',
      '*,https://app.example.com',
      'null',
      'https://user@app.example.com',
    ],
    DELIVERY_LOG_DAYS: ['0', 'forever'],
    TRASH_DAYS: ['0', 'never'],
    RATE_LIMIT_PER_SECOND: ['-1', '0.5', 'off', '1000001'],
    BOOKING_RATE_PER_SECOND: ['-1', 'off', '1000001'],
    OPEN_RATE_PER_SECOND: ['-1', 'off', '1000001'],
    TRUSTED_PROXIES: ['10.0.0.1', 'loopback', '10.0.0.0/33', 'true'],
    LOG_LEVEL: ['verbose', 'WARN', 'toString'],
  }
  for (const [name, values] of Object.entries(wrong))
    for (const value of values)
      assert.throws(
        () => readConfig({ [name]: value }),
        (error: Error) =>
          error instanceof ConfigError &&
          /^[A-Z_]+ (must|has|is) .+\.$/.test(error.message) &&
          error.message.startsWith(`${name} `),
        `${name}=${value}`,
      )
})

test('a secret may be in a file, which the variable with _FILE names', (t) => {
  const folder = scratchFolder(t)
  const file = join(folder, 'secret key')
  writeFileSync(file, '  a secret of a file\n')
  assert.equal(readConfig({ SECRET_KEY_FILE: ` ${file} ` }).secret_key, 'a secret of a file')
  const url = join(folder, 'url')
  writeFileSync(url, 'postgres://rapport:pass@db/rapport\n')
  assert.equal(readConfig({ DATABASE_URL_FILE: url }).database_url, 'postgres://rapport:pass@db/rapport')
  // An empty variable is none, and a setting without a secret has no file.
  assert.equal(readConfig({ SECRET_KEY: ' ', SECRET_KEY_FILE: file }).secret_key, 'a secret of a file')
  assert.equal(readConfig({ PORT_FILE: file }).port, 3000)
  const refused = (env: Record<string, string>, message: RegExp) =>
    assert.throws(() => readConfig(env), { message })
  refused(
    { SECRET_KEY: 'x', SECRET_KEY_FILE: file },
    /^SECRET_KEY is set twice: remove it or SECRET_KEY_FILE\.$/,
  )
  refused(
    { SECRET_KEY_FILE: `${file}2` },
    /^SECRET_KEY has a file that cannot be read: .*secret key2, ENOENT\.$/,
  )
  // A wrong value in a file is reported like another one, and is not quoted.
  writeFileSync(url, 'mysql://rapport:pass@db/rapport')
  refused({ DATABASE_URL_FILE: url }, /^DATABASE_URL must be a URL such as (?!.*pass@db).*\.$/)
})

test('all problems are reported at once, a line each, without values of secrets', () => {
  const env = {
    PORT: 'x',
    DATABASE_URL: 'postgre://user:hunter2@db/crm',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://user:hunter2@collector',
    OTEL_EXPORTER_OTLP_HEADERS: 'key=hunter2%0A.',
    RATE_LIMIT_PER_SECOND: 'x',
    LOG_LEVEL: 'x',
    HOST: 'fine',
  }
  assert.throws(
    () => readConfig(env),
    (error: Error) => {
      const lines = error.message.split('\n')
      assert.deepEqual(
        lines.map((line) => line.split(' ')[0]),
        [
          'PORT',
          'DATABASE_URL',
          'RATE_LIMIT_PER_SECOND',
          'LOG_LEVEL',
          'OTEL_EXPORTER_OTLP_ENDPOINT',
          'OTEL_EXPORTER_OTLP_HEADERS',
        ],
      )
      assert.ok(!error.message.includes('hunter2'))
      return true
    },
  )
})

test('the listing shows every setting as a line that can be pasted, and hides secrets', () => {
  const lines = describeConfig(readConfig({ SECRET_KEY: 'hunter2', WEBHOOK_RETRY_DELAYS: '1,2' }))
  const shown = Object.fromEntries(lines.map((line) => line.split(/ +# /)[0]?.split('=') ?? []))
  assert.equal(lines.length, Object.keys(readConfig({})).length)
  assert.deepEqual(
    [shown.SECRET_KEY, shown.WEBHOOK_RETRY_DELAYS, shown.PORT, shown.DATABASE_URL],
    ['(hidden)', '1,2', '3000', ''],
  )
  assert.ok(!lines.join().includes('hunter2'))
  for (const line of lines) assert.match(line, /^[A-Z_]+=\S* +# \S/)
})

test('the settings cannot be changed later', () => {
  const config = readConfig({}) as { port: number }
  assert.throws(() => {
    config.port = 1
  }, TypeError)
})

test('a wrong setting of mails is named with its remedy, and a password is never shown', () => {
  const mail = { SMTP_URL: 'smtp://user:pa55word@mail.example.com:587', MAIL_FROM: 'Acme <crm@example.com>' }
  assert.equal(readConfig(mail).mail_from, mail.MAIL_FROM)
  for (const [env, told] of [
    [{ ...mail, SMTP_URL: 'http://user:pa55word@mail.example.com' }, /SMTP_URL.*smtp:\/\//s],
    [{ ...mail, SMTP_URL: 'smtp://user:pa55word@' }, /SMTP_URL/],
    [{ SMTP_URL: mail.SMTP_URL }, /MAIL_FROM is needed with SMTP_URL: set it/],
    [{ ...mail, HOST: '0.0.0.0' }, /PUBLIC_URL is needed with SMTP_URL.*set it/],
    [{ ...mail, MAIL_FROM: 'Acme' }, /MAIL_FROM/],
    [{ ...mail, MAIL_REPLY_TO: 'a@example.com, b@example.com' }, /MAIL_REPLY_TO must be one address/],
    [{ ...mail, SMTP_TIMEOUT_MS: '999' }, /SMTP_TIMEOUT_MS/],
  ] as const)
    assert.throws(
      () => readConfig(env),
      (error) =>
        error instanceof ConfigError && told.test(error.message) && !error.message.includes('pa55word'),
      JSON.stringify(env),
    )
  assert.equal(
    readConfig({ ...mail, HOST: '0.0.0.0', PUBLIC_URL: 'https://crm.example.com' }).host,
    '0.0.0.0',
  )
})
