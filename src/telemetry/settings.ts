import { integer, oneOf, orEmpty, type Setting, text } from '../setting.ts'

// A path may be appended to it, and errors may quote it, so it must not have a password.
const collector = (value: string) => {
  if (!value) return null
  const url = URL.parse(value)
  const bare = url !== null && /^https?:$/.test(url.protocol) && !url.username && !url.password
  if (!bare || /[?#]/.test(value))
    throw new Error(
      'must be an http or https URL without user, password, query and hash, such as http://localhost:4318',
    )
  return value
}
/** `name=value` pairs, as OpenTelemetry writes them: separated by commas, values percent-encoded. */
const pairs = (value: string): Record<string, string> => {
  const list = value.split(',').filter((part) => part.trim())
  try {
    return Object.fromEntries(
      list.map((part) => {
        const [, name = '', text = ''] = /^\s*([^=\s]+)\s*=(.*)$/.exec(part) ?? []
        if (!name) throw new Error(part)
        return [name, decodeURIComponent(text.trim())]
      }),
    )
  } catch {
    throw new Error('must be pairs such as name=value,other=value')
  }
}
const headers = (value: string) => {
  const list = pairs(value)
  try {
    new Headers(list)
  } catch {
    throw new Error('must be valid HTTP headers, such as authorization=Bearer%20abc,other=value')
  }
  return list
}
const share = (value: string) => {
  if (!/^(0|1|0?\.\d+|1\.0+|0\.0+)$/.test(value)) throw new Error('must be a number from 0 to 1')
  return Number(value)
}

// gRPC has another port, so it must not be taken for HTTP.
const protocol = (value: string) => {
  if (value !== 'http/json')
    throw new Error(
      'must be http/json: collectors accept OTLP/JSON where they accept http/protobuf, usually at port 4318',
    )
  return value
}
const metricsExporter = (value: string) => {
  if (value !== 'prometheus' && value !== 'none')
    throw new Error('must be prometheus or none: metrics are not sent, so let the collector scrape /metrics')
  return value
}

const samplers = ['always_on', 'always_off', 'traceidratio'] as const
type Sampler = (typeof samplers)[number] | `parentbased_${(typeof samplers)[number]}`
const sampler = oneOf(...samplers, ...samplers.map((name) => `parentbased_${name}`))

/** The settings of traces, by the names and meanings of OpenTelemetry. A variable of traces alone wins over the general one. */
export const telemetrySettings = {
  otel_sdk_disabled: { fallback: 'false', about: 'true: no traces are sent', parse: oneOf('true', 'false') },
  otel_traces_exporter: {
    about: 'otlp or none; empty: otlp if an endpoint is set',
    parse: orEmpty(oneOf('otlp', 'none')),
  },
  otel_metrics_exporter: {
    fallback: 'prometheus',
    about: 'prometheus or none; /metrics answers in both cases',
    parse: metricsExporter,
  },
  otel_exporter_otlp_endpoint: {
    about: 'collector, such as http://localhost:4318; traces are sent to /v1/traces below it',
    parse: collector,
  },
  otel_exporter_otlp_traces_endpoint: {
    about: 'whole address for traces, such as http://localhost:4318/v1/traces',
    parse: collector,
  },
  otel_exporter_otlp_protocol: { about: 'http/json, which is also the default', parse: orEmpty(protocol) },
  otel_exporter_otlp_traces_protocol: { about: 'the same, for traces alone', parse: orEmpty(protocol) },
  otel_exporter_otlp_headers: {
    secret: true,
    about: 'headers for the collector, as name=value,other=value',
    parse: orEmpty(headers),
  },
  otel_exporter_otlp_traces_headers: {
    secret: true,
    about: 'the same, for traces alone',
    parse: orEmpty(headers),
  },
  otel_exporter_otlp_timeout: {
    fallback: '10000',
    about: 'limit of a request to the collector, in milliseconds',
    parse: integer(1, 600_000),
  },
  otel_exporter_otlp_traces_timeout: {
    about: 'the same, for traces alone',
    parse: orEmpty(integer(1, 600_000)),
  },
  otel_service_name: {
    about: 'name of the service in traces; empty: service.name of the attributes, or rapport',
    parse: text,
  },
  otel_resource_attributes: {
    secret: true,
    about: 'attributes of the service in traces, as name=value,other=value',
    parse: orEmpty(pairs),
  },
  otel_traces_sampler: {
    fallback: 'parentbased_traceidratio',
    about: 'which traces are recorded; parentbased_: the caller decides, and the rest is for new traces',
    parse: (value: string) => sampler(value) as Sampler,
  },
  otel_traces_sampler_arg: {
    fallback: '1',
    about: 'part of the traces that traceidratio records, from 0 to 1',
    parse: share,
  },
} satisfies Record<string, Setting<unknown>>
