import type { Config } from '../config.ts'
import { version } from '../version.ts'
import type { Sampling } from './otlp.ts'
import type { Tracer } from './tracer.ts'

/** The tracer of the settings; null without a collector. Its code is loaded only when it is used. */
export async function openTracer(config: Config, onError: (code: string) => void): Promise<Tracer | null> {
  const url = collectorOf(config)
  if (url === null || config.otel_sdk_disabled === 'true') return null
  const { createOtlpTracer } = await import('./otlp.ts')
  return createOtlpTracer({
    url,
    headers: config.otel_exporter_otlp_traces_headers ?? config.otel_exporter_otlp_headers ?? {},
    service_name: config.otel_service_name,
    version,
    resource: config.otel_resource_attributes ?? {},
    timeout_ms: config.otel_exporter_otlp_traces_timeout ?? config.otel_exporter_otlp_timeout,
    sampling: samplingOf(config),
    onError,
  })
}

/** The address to which traces are sent; null if the settings want none. */
function collectorOf(config: Config): string | null {
  const { otel_exporter_otlp_endpoint: base, otel_exporter_otlp_traces_endpoint: whole } = config
  const { otel_traces_exporter: exporter } = config
  if (exporter === 'none' || (exporter === null && base === null && whole === null)) return null
  return whole ?? `${(base ?? 'http://localhost:4318').replace(/\/+$/, '')}/v1/traces`
}

function samplingOf({ otel_traces_sampler: sampler, otel_traces_sampler_arg: share }: Config): Sampling {
  const ratio = sampler.endsWith('always_on') ? 1 : sampler.endsWith('always_off') ? 0 : share
  return { ratio, by_caller: sampler.startsWith('parentbased_') }
}
