// The URL of a one-time link. Its token is in the fragment, so no server log, proxy or referrer sees it.

export const linkUrl = (baseUrl: string, token: string) => `${baseUrl}/dashboard/welcome#${token}`
