// A small EVM assembler, so that the contracts of these tests have a readable source instead of an opaque blob. `@name`
// marks a jump target, `=name` pushes its position, `0x…` pushes bytes, everything else is an opcode.
const opcodes: { readonly [name: string]: number } = {
  STOP: 0x00,
  ADD: 0x01,
  LT: 0x10,
  EQ: 0x14,
  ISZERO: 0x15,
  AND: 0x16,
  SHR: 0x1c,
  ORIGIN: 0x32,
  NUMBER: 0x43,
  CALLDATALOAD: 0x35,
  CALLDATASIZE: 0x36,
  CALLDATACOPY: 0x37,
  CODECOPY: 0x39,
  GASPRICE: 0x3a,
  RETURNDATASIZE: 0x3d,
  RETURNDATACOPY: 0x3e,
  MSTORE: 0x52,
  SSTORE: 0x55,
  JUMP: 0x56,
  JUMPI: 0x57,
  GAS: 0x5a,
  JUMPDEST: 0x5b,
  DUP1: 0x80,
  DUP2: 0x81,
  DUP3: 0x82,
  DUP7: 0x86,
  LOG0: 0xa0,
  LOG1: 0xa1,
  LOG2: 0xa2,
  LOG3: 0xa3,
  LOG4: 0xa4,
  CALL: 0xf1,
  RETURN: 0xf3,
  DELEGATECALL: 0xf4,
  REVERT: 0xfd
}

const hexByte = (value: number) => value.toString(16).padStart(2, "0")

/** Code of at most 255 bytes if it has jumps. */
export const assemble = (source: string): `0x${string}` => {
  const words = source
    .split("\n")
    .map((line) => line.replace(/;.*$/, ""))
    .join(" ")
    .split(/\s+/)
    .filter((word) => word !== "")
  const targets = new Map<string, number>()
  const parts: Array<(at: ReadonlyMap<string, number>) => string> = []
  let size = 0
  for (const word of words) {
    if (word.startsWith("@")) {
      targets.set(word.slice(1), size)
      parts.push(() => hexByte(0x5b))
      size += 1
    } else if (word.startsWith("=")) {
      parts.push((at) => `60${hexByte(at.get(word.slice(1)) ?? 0)}`)
      size += 2
    } else if (word.startsWith("0x")) {
      const digits = word.slice(2)
      parts.push(() => hexByte(0x5f + digits.length / 2) + digits)
      size += 1 + digits.length / 2
    } else {
      const opcode = opcodes[word]
      if (opcode === undefined) throw new Error(`unknown opcode ${word}`)
      parts.push(() => hexByte(opcode))
      size += 1
    }
  }
  return `0x${parts.map((part) => part(targets)).join("")}`
}
