import { defineConfig } from '@kubb/core'
import { pluginClient } from '@kubb/plugin-client'
import { pluginOas } from '@kubb/plugin-oas'
import { pluginTs } from '@kubb/plugin-ts'
import { pluginZod } from '@kubb/plugin-zod'
// The clients check bodies and answers by the schemas of the document.
export default defineConfig({
  input: { path: process.env.DOCUMENT ?? '' },
  output: { path: './generated/kubb', clean: true, format: false, lint: false },
  plugins: [
    pluginOas({ generators: [] }),
    pluginTs({ output: { path: 'types.ts' } }),
    pluginZod({ output: { path: 'zod.ts' } }),
    pluginClient({ output: { path: 'client.ts' }, client: 'fetch', parser: 'zod', dataReturnType: 'full' }),
  ],
})
