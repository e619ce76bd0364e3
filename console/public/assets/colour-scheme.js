// Sets light or dark before the first paint. A file of its own, because the page allows no inline script.
const chosen = localStorage.getItem("mantine-color-scheme-value") ?? "auto"
const dark = chosen === "dark" || (chosen === "auto" && matchMedia("(prefers-color-scheme: dark)").matches)
document.documentElement.dataset.mantineColorScheme = dark ? "dark" : "light"
