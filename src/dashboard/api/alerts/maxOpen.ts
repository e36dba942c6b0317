/** The number of open alerts up to which they are counted. */
export const maxOpen = 100
