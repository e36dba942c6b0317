/** The start of a hosted page's document: not indexed, no referrer, its scripts and one style sheet. */
export const pageHead = (title: string, styles: string, ...scripts: ReadonlyArray<string>): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${styles}">
${scripts.map((script) => `<script src="${script}" defer></script>`).join("\n")}
</head>`
