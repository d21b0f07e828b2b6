import { readReleased } from './files.ts'

// In the place of src/http/openapi/scalar.ts: a release contains the script, without the package around it.
export const packedScalar = async (): Promise<Buffer> => readReleased('docs/scalar.js.br')
