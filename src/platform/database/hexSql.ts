/** SQL for a bytea column as text: 0x and lower-case hex. */
export const hexSql = (column: string): string => `'0x' || encode(${column}, 'hex')`
