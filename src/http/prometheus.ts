/** A histogram of one set of labels: counts by bucket. The last bucket counts values above all limits. */
export function createHistogram(limits: readonly number[]) {
  const counts = new Array<number>(limits.length + 1).fill(0)
  let sum = 0
  return {
    observe(value: number): void {
      let bucket = 0
      while (bucket < limits.length && value > (limits[bucket] as number)) bucket++
      counts[bucket] = (counts[bucket] as number) + 1
      sum += value
    },
    /** Its lines in Prometheus text, where buckets are cumulative. */
    lines(name: string, labels: string): string[] {
      let total = 0
      const buckets = [...limits, '+Inf'].map((limit, index) => {
        total += counts[index] as number
        return `${name}_bucket{${labels}${labels && ','}le="${limit}"} ${total}`
      })
      const of = labels && `{${labels}}`
      return [...buckets, `${name}_sum${of} ${sum}`, `${name}_count${of} ${total}`]
    },
  }
}

/** The two lines before the samples of a metric. */
export const head = (name: string, type: string, help: string) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
]

/** The lines of a metric without labels. */
export const single = (name: string, type: string, help: string, value: number | boolean) => [
  ...head(name, type, help),
  `${name} ${Number(value)}`,
]

/** Sums the samples of several Prometheus texts, by metric family. */
export function addUp(texts: string[]): string {
  const families = new Map<string, { head: string[]; sums: Map<string, number> }>()
  for (const text of texts) {
    let family = { head: [] as string[], sums: new Map<string, number>() }
    for (const line of text.split('\n')) {
      const [, name] = /^# HELP (\S+)/.exec(line) ?? []
      // Each sample follows the heading of its family.
      if (name) {
        family = families.get(name) ?? { head: [], sums: new Map() }
        families.set(name, family)
      }
      if (line.startsWith('#')) {
        if (!family.head.includes(line)) family.head.push(line)
        continue
      }
      const end = line.lastIndexOf(' ')
      const sample = line.slice(0, end)
      family.sums.set(sample, (family.sums.get(sample) ?? 0) + Number(line.slice(end + 1)))
    }
  }
  return [...families.values()]
    .flatMap(({ head, sums }) => [...head, ...[...sums].map(([sample, sum]) => `${sample} ${sum}`)])
    .join('\n')
}
