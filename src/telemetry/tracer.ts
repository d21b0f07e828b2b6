/** The attributes of a span, by the names of OpenTelemetry's semantic conventions. */
export type Attributes = Record<string, string | number | boolean | null | undefined>

export type Span = {
  /** The W3C trace context of this span, for those that it causes. */
  traceparent: string
  /** Ends the span, which is then sent. `error` marks it as failed. The route of a request, in its name, is known late. */
  end(name: string, attributes?: Attributes, error?: string): void
}

/** Makes the spans of a process. There is one only if the settings name a collector. */
export type Tracer = {
  /** Begins a span below the parent, or a trace of its own. */
  start(kind: 'internal' | 'server' | 'client', parent: string | null): Span
  /** The spans that were not sent: the collector was too slow or away. */
  dropped(): number
  /** Sends the spans that wait, within 0.5 s: later ones are dropped. */
  close(): Promise<void>
}
