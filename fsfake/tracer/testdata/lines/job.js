const fs = require('fs')
const { execSync } = require('child_process')

function get () {
  return Number(fs.readFileSync('n', 'utf8')) // makes: open fstat read close
}

async function main () {
  fs.writeFileSync('n', '1') // makes: open write close
  const n = get()
  const h = await fs.promises.open('m', 'w') // makes: open
  await h.writeFile(String(n)) // makes: write
  await h.close() // makes: close
  await fs.promises.rename('m', 'n') // makes: rename
  execSync('rm n') // makes: fork exec exit wait stat lstat access unlink
}
main()
