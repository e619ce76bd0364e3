import type { ComponentProps } from "react"
import { Icon } from "./icon.tsx"

/** The browser's own select, which works with keys and on phones, in our looks. */
export function Select({ className = "", children, ...rest }: ComponentProps<"select">) {
  return (
    <span className={`select ${className}`}>
      <select {...rest}>{children}</select>
      <Icon name="selector" small />
    </span>
  )
}
