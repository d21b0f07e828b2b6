import { type ApiError, invalid } from '../errors.ts'

/** The cursor of the first page. */
export const first_cursor = 'start'

/** 422 for an empty cursor, which says how to begin and when to stop. */
export const emptyCursor = (): ApiError =>
  invalid([
    {
      field: 'cursor',
      code: 'invalid_cursor',
      message: `cursor is empty. Send cursor=${first_cursor} for the first page. When next_cursor is null, there are no more pages: stop.`,
    },
  ])
