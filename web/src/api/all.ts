type Page<Row> = { data: Row[]; meta: { last_page?: number } }

/** Every record of a list that is short by its nature, read page by page. */
export async function allOf<Row>(
  read: (query: { page: number; per_page: number }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const all: Row[] = []
  for (let page = 1; ; page++) {
    const { data, meta } = await read({ page, per_page: 100 })
    all.push(...data)
    if (page >= (meta.last_page ?? 1)) return all
  }
}
