import { integer, oneOf, orEmpty, type Setting } from '../setting.ts'

// The path of traces is appended to it, and errors may quote it, so it must not have a password.
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

/** The settings of traces, by the names and meanings of OpenTelemetry. */
export const telemetrySettings = {
  otel_sdk_disabled: { fallback: 'false', about: 'true: no traces are sent', parse: oneOf('true', 'false') },
  otel_traces_exporter: {
    fallback: '',
    about: 'otlp or none; empty: otlp if an endpoint is set',
    parse: orEmpty(oneOf('otlp', 'none')),
  },
  otel_exporter_otlp_endpoint: {
    fallback: '',
    about: 'collector of traces, such as http://localhost:4318; they are sent as OTLP/JSON',
    parse: collector,
  },
  otel_exporter_otlp_headers: {
    fallback: '',
    secret: true,
    about: 'headers for the collector, as name=value,other=value',
    parse: orEmpty(headers),
  },
  otel_exporter_otlp_timeout: {
    fallback: '10000',
    about: 'limit of a request to the collector, in milliseconds',
    parse: integer(1, 600_000),
  },
  otel_service_name: {
    fallback: 'rapport',
    about: 'name of the service in traces',
    parse: (value: string) => value,
  },
  otel_resource_attributes: {
    fallback: '',
    secret: true,
    about: 'attributes of the service in traces, as name=value,other=value',
    parse: orEmpty(pairs),
  },
  otel_traces_sampler_arg: {
    fallback: '1',
    about: 'part of new traces that is recorded; a trace of the caller follows the caller',
    parse: share,
  },
} satisfies Record<string, Setting<unknown>>
