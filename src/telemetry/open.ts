import type { Config } from '../config.ts'
import { version } from '../version.ts'
import type { Tracer } from './tracer.ts'

/** The tracer of the settings; null without a collector. Its code is loaded only when it is used. */
export async function openTracer(config: Config, onError: (code: string) => void): Promise<Tracer | null> {
  const { otel_exporter_otlp_endpoint: endpoint, otel_traces_exporter: exporter } = config
  const wanted = exporter === 'otlp' || (endpoint !== null && exporter !== 'none')
  if (!wanted || config.otel_sdk_disabled === 'true') return null
  const { createOtlpTracer } = await import('./otlp.ts')
  return createOtlpTracer({
    endpoint: endpoint ?? 'http://localhost:4318',
    headers: config.otel_exporter_otlp_headers ?? {},
    service_name: config.otel_service_name,
    version,
    resource: config.otel_resource_attributes ?? {},
    timeout_ms: config.otel_exporter_otlp_timeout,
    ratio: config.otel_traces_sampler_arg,
    onError,
  })
}
