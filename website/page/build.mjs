// Builds the script and the style of the page into rspverify/server/built, with the licences of what is in them.
// Another folder may be given: node build.mjs DIR
import { build } from "esbuild";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const folder = process.argv[2] ?? "../../rspverify/server/built";
const { metafile } = await build({
  entryPoints: ["src/page.ts", "src/page.css"],
  outdir: folder,
  bundle: true,
  minify: true,
  format: "esm",
  target: ["chrome110", "firefox115", "safari16.4"],
  charset: "utf8",
  legalComments: "none",
  metafile: true,
});

const names = new Set();
for (const input of Object.keys(metafile.inputs)) {
  const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
  if (found) names.add(found[1]);
}
const parts = [];
for (const name of [...names].sort()) {
  const { version, license } = JSON.parse(await readFile(join("node_modules", name, "package.json"), "utf8"));
  const text = await readFile(join("node_modules", name, "LICENSE"), "utf8");
  parts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
}
await writeFile(join(folder, "LICENCES.txt"), `What is built into page.js, and its licences.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`);
