import { useAiSdk } from './use-ai-sdk.ts'
import { useHey } from './use-hey.ts'
import { useKubb } from './use-kubb.ts'
import { useLangChain } from './use-langchain.ts'
import { useOazapfts } from './use-oazapfts.ts'
import { useOrval } from './use-orval.ts'
import { useZodios } from './use-zodios.ts'

const where = { url: process.env.URL ?? '', key: process.env.KEY ?? '' }
for (const use of [useZodios, useHey, useOazapfts, useOrval, useKubb, useLangChain, useAiSdk]) {
  await use(where)
  console.log(`${use.name}: all calls work`)
}
