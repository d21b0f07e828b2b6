import { Problem } from '../../api/problem.ts'

/** Says what a 503 means for an export. */
export async function notBusy<T>(asked: Promise<T>, busy: string): Promise<T> {
  try {
    return await asked
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 503) throw error
    throw new Problem(409, 'conflict', busy, error.request_id)
  }
}
