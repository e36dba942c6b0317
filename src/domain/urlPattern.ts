// The URLs that the documentation promises to accept: those that every parser reads alike.

const host = "([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\\.)*[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?"

/** Pattern of an https URL with a host name, without credentials, fragment, white space or control characters. */
export const urlPattern = `^https://${host}(:([0-9]{1,4}|[1-5][0-9]{4}))?([/?][^\\s\\p{Cc}#\\\\]*)?$`
