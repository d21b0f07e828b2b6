const page_bytes = 1024 * 1024
const first_rows = 30

/**
 * The rows of the pages of an export. The size starts small, doubles after a page of small rows and halves after one of
 * large rows. So it has few values, each with its own statement, and a page has about 1 MiB.
 */
export function createPageSize(max_rows: number) {
  let halvings = 0
  while (max_rows >> halvings >= 2 * first_rows) halvings++
  return {
    rows: () => Math.max(1, max_rows >> halvings),
    /** Takes the bytes of the last page. */
    measured(bytes: number): void {
      if (bytes > page_bytes && max_rows >> halvings > 1) halvings++
      else if (bytes < page_bytes / 4 && halvings > 0) halvings--
    },
  }
}

export type PageSize = ReturnType<typeof createPageSize>
