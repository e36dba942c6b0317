// What the wrappers need of React and Vue, which whoever installs the package brings along.
declare module "react" {
  export interface ReactElement {
    readonly type: unknown
    readonly props: unknown
    readonly key: string | null
  }
  interface Ref<T> {
    current: T
  }
  export function useRef<T>(initial: T): Ref<T>
  export function useRef<T>(initial: T | null): Ref<T | null>
  export function useEffect(effect: () => (() => void) | undefined, inputs: ReadonlyArray<unknown>): void
  export function createElement(type: string, props: Readonly<Record<string, unknown>>): ReactElement
}

declare module "vue" {
  interface Option<T> {
    readonly type: () => T
    readonly required?: true
    readonly default?: T
  }
  /** A component, as `h` and templates take one. */
  export interface DefineComponent<P> {
    new (): { readonly $props: Partial<P> }
  }
  export function onMounted(run: () => void): void
  export function h(type: string, props: Readonly<Record<string, unknown>>): unknown
  export function defineComponent<P extends Readonly<Record<string, unknown>>>(component: {
    readonly name: string
    readonly props: { readonly [K in keyof P]: Option<P[K]> }
    readonly setup: (props: P) => () => unknown
  }): DefineComponent<P>
}
