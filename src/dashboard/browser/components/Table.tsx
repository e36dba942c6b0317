// Items in rows. On a narrow screen, each row is a card whose cells show their columns' names.
import type { ComponentChildren } from "preact"

export interface Column<A> {
  readonly name: string
  readonly cell: (row: A) => ComponentChildren
  /** The class of the column's cells. The header of a numeric column is aligned with its cells. */
  readonly class?: string
  /** True if only screen readers announce the name. */
  readonly hidden?: boolean
  /** The name on a narrow screen, if it depends on the row. */
  readonly label?: (row: A) => string
  /** The column's sort order, and the link to change it. */
  readonly sorted?: { readonly way: "ascending" | "descending" | undefined; readonly href: string }
}

const Header = <A,>({ column }: { readonly column: Column<A> }) => {
  const { hidden, name, sorted } = column
  const isNumber = column.class?.split(" ").includes("number") === true
  return (
    <th scope="col" class={isNumber ? "number" : undefined} aria-sort={sorted?.way}>
      {sorted !== undefined ? (
        <a href={sorted.href}>
          {name}
          <span aria-hidden="true">
            {sorted.way === undefined ? "" : sorted.way === "descending" ? " ↓" : " ↑"}
          </span>
        </a>
      ) : hidden === true ? (
        <span class="hidden">{name}</span>
      ) : (
        name
      )}
    </th>
  )
}

export const Table = <A,>(props: {
  readonly columns: ReadonlyArray<Column<A>>
  readonly rows: ReadonlyArray<A>
  readonly keyOf: (row: A, index: number) => string
  readonly classOf?: (row: A) => string | undefined
  readonly class?: string
}) => {
  const { classOf, columns, keyOf, rows } = props
  return (
    <table class={`rows ${props.class ?? ""}`}>
      <thead class={columns.some(({ sorted }) => sorted !== undefined) ? "sorting" : undefined}>
        <tr>
          {columns.map((column) => (
            <Header key={column.name} column={column} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={keyOf(row, index)} class={classOf?.(row)}>
            {columns.map((column) => (
              <td
                key={column.name}
                data-label={column.hidden === true ? undefined : (column.label?.(row) ?? column.name)}
                class={column.class}
              >
                {column.cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
