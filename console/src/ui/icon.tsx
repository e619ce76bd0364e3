import { iconPaths, type IconName } from "./icon-paths.ts"

/** A decoration: what it says must stand in words beside it. */
export function Icon({ name, small = false }: { name: IconName; small?: boolean }) {
  return (
    <svg className={small ? "i s" : "i"} viewBox="0 0 24 24" aria-hidden="true">
      <path d={iconPaths[name]} />
    </svg>
  )
}

/** The mark: four posts and a bar, as people count. */
export function Gate({ size = "m" }: { size?: "s" | "m" | "l" }) {
  const of = { s: "i s", m: "i gate", l: "i gate gate-l" }
  return (
    <svg className={of[size]} viewBox="0 0 24 24" aria-hidden="true">
      <path className="gate-post" d="M5 4v16M9.7 4v16M14.3 4v16M19 4v16" />
      <path className="gate-bar" d="M2 17.5 22 6.5" />
    </svg>
  )
}
