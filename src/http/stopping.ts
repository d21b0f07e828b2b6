/** Waits for work, and throws the reason of the signal if that comes first. */
export async function unlessStopped(stopping: AbortSignal, work: Promise<void>): Promise<void> {
  const { promise: stop, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(stopping.reason)
  stopping.addEventListener('abort', onAbort)
  await Promise.race([work, stop]).finally(() => stopping.removeEventListener('abort', onAbort))
}
