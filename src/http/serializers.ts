import { SerializerSelector } from '@fastify/fast-json-stringify-compiler'

type Build = ReturnType<typeof SerializerSelector>

const build: Build = SerializerSelector()

/** The serializers of answers, each compiled at its first use. All of them together take a tenth of a start. */
export const lazySerializers: Build = (schemas, options) => {
  const compile = build(schemas, options)
  return (route) => {
    let serialize: ReturnType<typeof compile> | undefined
    return (data) => {
      serialize ??= compile(route)
      return serialize(data)
    }
  }
}
