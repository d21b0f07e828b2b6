import { readReleased } from './files.ts'

// In the place of src/http/openapi/scalar.ts: a release contains the script, without the package around it.
export const readScalar = async (): Promise<string> => readReleased('docs/scalar.js').toString()
