export function isZone(name) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).format()
    return true
  } catch {
    return false
  }
}

/** ISO 8601 with the zone's offset, for example 2026-01-31T09:30:00+08:00. */
export function timeIn(zone, at) {
  const minutes = offsetOf(zone, at)
  const local = new Date(Math.floor(at.getTime() / 1000) * 1000 + minutes * 60_000).toISOString().slice(0, 19)
  const two = (value) => String(Math.floor(Math.abs(value))).padStart(2, "0")
  return `${local}${minutes < 0 ? "-" : "+"}${two(minutes / 60)}:${two(minutes % 60)}`
}

/** Minutes east of UTC at that moment. */
export function offsetOf(zone, at) {
  const format = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" })
  const name = format.formatToParts(at).find(({ type }) => type === "timeZoneName").value
  const [, sign, hours = "0", minutes = "0"] = /^GMT(?:([+-])(\d+):(\d+))?/.exec(name)
  return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}
