// A text as a QR code: dark modules on white in any theme, because phones need it to read the code.
import { encode } from "uqr"

const namespace = "http://www.w3.org/2000/svg"
/** Modules of quiet around the code (ISO/IEC 18004). */
const border = 4

const shape = (tag: "svg" | "path" | "rect", attributes: Readonly<Record<string, string>>) => {
  const element = document.createElementNS(namespace, tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  return element
}

/** `label`: the code's name for screen readers. */
export const qrCode = (text: string, label: string): SVGElement => {
  const { data, size } = encode(text, { ecc: "L", border })
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ""))).join("")
  const code = shape("svg", {
    viewBox: `0 0 ${size} ${size}`,
    role: "img",
    "aria-label": label,
    class: "qr",
    part: "qr",
    "shape-rendering": "crispEdges"
  })
  code.append(
    shape("rect", { width: String(size), height: String(size), fill: "#fff" }),
    shape("path", { d: path, fill: "#000" })
  )
  return code
}
