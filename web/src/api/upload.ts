import { answerOf, type Sent, uploadHeaders } from './client.ts'

/**
 * Sends a file as the body of a POST, and tells the share that is sent. `fetch` cannot tell it. A repeated upload without
 * an answer has the same idempotency key, so that it runs once.
 */
export function upload<T>(
  path: string,
  file: File | Blob,
  type: string,
  onProgress: (share: number) => void,
  signal?: AbortSignal,
) {
  const { name = '', size, lastModified = 0 } = file as Partial<File> & Blob
  const { headers, answered } = uploadHeaders(`${path}\n${name}\n${size}\n${lastModified}`)
  const sent = new Promise<Sent<{ data: T }>>((resolve, reject) => {
    const request = new XMLHttpRequest()
    request.open('POST', path)
    request.setRequestHeader('content-type', type)
    for (const [header, value] of Object.entries(headers)) request.setRequestHeader(header, value)
    request.upload.onprogress = ({ loaded, total }) => onProgress(total ? loaded / total : 0)
    request.onabort = () => reject(new DOMException('The upload was aborted.', 'AbortError'))
    signal?.addEventListener('abort', () => request.abort(), { once: true })
    request.onerror = () => reject(new TypeError('The connection broke.'))
    request.onload = () => {
      answered(request.status)
      const kept = ['x-request-id', 'retry-after'].flatMap((header): [string, string][] => {
        const value = request.getResponseHeader(header)
        return value === null ? [] : [[header, value]]
      })
      const response = new Response(null, { status: request.status, headers: kept })
      const body = parsed(request.responseText)
      resolve(response.ok ? { data: body as { data: T }, response } : { error: body, response })
    }
    request.send(file)
  })
  return answerOf<{ data: T }>(sent).then(({ data }) => data)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
