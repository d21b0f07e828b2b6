type Page<Row> = { data: Row[]; meta: { last_page?: number } }

/** Rows per page of a list that is read as a whole. */
export const part_size = 100

/** Reads all pages of a short list. */
export async function allOf<Row>(
  read: (query: { page: number; per_page: number }) => Promise<Page<Row>>,
): Promise<Row[]> {
  const all: Row[] = []
  for (let page = 1; ; page++) {
    const { data, meta } = await read({ page, per_page: part_size })
    all.push(...data)
    if (page >= (meta.last_page ?? 1)) return all
  }
}
