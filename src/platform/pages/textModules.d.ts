// Files imported as text: `import styles from "./styles.css" with { type: "text" }`.
declare module "*.css" {
  const text: string
  export = text
}
declare module "*.md" {
  const text: string
  export = text
}
