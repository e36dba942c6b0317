// Where a one-time link leads. The token is in the fragment: no server log, proxy or
// referrer sees it.

export const linkUrl = (baseUrl: string, token: string) => `${baseUrl}/dashboard/welcome#${token}`
