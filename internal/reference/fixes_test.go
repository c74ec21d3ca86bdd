package reference

// A Fix is a sentence that people write under a report, and a row that refutes it.
type Fix struct {
	// Says is the fix as it is usually put.
	Says string
	// Row is the scenario that has the fix and is broken all the same.
	Row string
	// Because says why, in a sentence or two.
	Because string
	// Instead is a variant that holds, system/variant.
	Instead string
}

// Fixes lists the fixes that do not fix.
func Fixes() []Fix {
	return []Fix{
		{
			"Remove the lock in a trap, and arm the trap first of all.", "aidevops/trap-first/signal",
			"A script that was refused, or has not come to the lock yet, gets a signal and removes the lock of whoever has it.", "aidevops/link-owned",
		},
		{
			"Set a flag when the lock is taken, and have the trap remove the lock only if the flag is set.", "aidevops/flag-cleared-last/signal",
			"Flag and lock change in two steps. Cleared after the removal, the flag says held when somebody else holds; cleared before, a signal in between leaves the lock for ever.", "aidevops/link-owned",
		},
		{
			"Arm the trap right after the lock was taken.", "aidevops/trap-last/signal",
			"A signal before that leaves the lock for ever, and one after the release finds the trap still armed.", "aidevops/link-owned",
		},
		{
			"Check whether the file exists, and create it if it does not.", "ctx/stat-then-write/contend",
			"Look and creation are two calls, and both contenders may look first.", "ctx/excl",
		},
		{
			"Unlink the stale lock file, then create it with O_EXCL.", "ctx/pid-cleanup/dead-owner",
			"Two contenders judge one stale file. The first unlinks it and creates its own; the second unlinks that one. O_EXCL then succeeds for both.", "gofrs-flock/keep-file",
		},
		{
			"Treat an empty lock file as stale: its owner died before it wrote its pid.", "openclaw-takeover/empty-is-stale/contend",
			"Every lock file is empty between its creation and the write, so a living owner is robbed.", "openclaw-takeover/guarded",
		},
		{
			"Publish a complete file with link(2), so that nobody sees an empty one.", "itervox/link-publish/dead-owner",
			"That cures the empty file, and leaves the reclaim as it was: judged first, removed by name afterwards.", "gofrs-flock/keep-file",
		},
		{
			"Rename the stale lock aside, which is atomic, instead of unlinking it.", "filelock/soft-rename-aside/dead-owner",
			"The rename is atomic, and moves whatever stands at the name by then.", "filelock/unix-truncate-after-lock",
		},
		{
			"After the rename compare inode number and time, and stop if it was another file.", "filelock/soft-verify-inode/dead-owner",
			"By then the live lock has left its name, and the name is free for a second owner.", "filelock/unix-truncate-after-lock",
		},
		{
			"Reclaim with a rename: it is winner-take-all, as only one can move a given file.", "agents-in-a-box/rename-dead/dead-owner",
			"One wins each file. The loser's rename moves the next file, which is the winner's.", "gofrs-flock/keep-file",
		},
		{
			"Rename the stale lock aside before deleting it, so a live lock created in the interim is never touched.", "prime-agent/candidate-rename/dead-owner",
			"The live lock is what the rename moves.", "gofrs-flock/keep-file",
		},
		{
			"If the wrong lock was moved, link it back: a link overwrites nothing.", "factory-factory/claim-and-restore/dead-owner",
			"While it is away a third contender takes the name; the link is refused, and two hold.", "gofrs-flock/keep-file",
		},
		{
			"Look whether the inode is still the same, right before the unlink.", "factory-factory/same-inode/dead-owner",
			"The look and the unlink are two calls.", "openclaw-takeover/guarded",
		},
		{
			"Look whether the inode is still the same, under a second lock: a new file has a new number.", "add-installer/same-inode/ext4",
			"ext4 gives the number of the old file to the next one.", "add-installer/same-inode-and-age",
		},
		{
			"Remove the stale lock, create it or fail, and read one's own pid back.", "claude-remember/recreate-and-verify/dead-owner",
			"What was verified is removed by the next one who had judged the old lock before.", "gofrs-flock/keep-file",
		},
		{
			"Read the lock again after the rename, and own it only if it is one's own.", "ihub/rename-read-back/contend",
			"It is one's own until the next one renames, who had looked before.", "ctx/excl",
		},
		{
			"Free a lock that is older than ten minutes, whoever has it.", "openswarm/pid-or-age/stall",
			"An owner that stood still for ten minutes goes on beside its successor.", "gofrs-flock/keep-file",
		},
		{
			"Remove the pid file at the end only if it has one's own pid.", "khive/unlink-own-at-end/late-exit",
			"Reading and removing are two calls.", "vellum/release-by-fd",
		},
		{
			"If the wrong lock was moved, rename it back.", "remnic/rename-back/dead-owner",
			"A third contender takes the free name meanwhile, and the rename back replaces its lock without an error.", "gofrs-flock/keep-file",
		},
		{
			"Write one's own lock over the stale one, and read it back after a short sleep.", "openlock/replace-read-back/dead-owner",
			"Whoever judged before may write after the sleep; no sleep is long enough.", "gofrs-flock/keep-file",
		},
		{
			"Put the takeover under a second lock, and reclaim that one when its owner is dead.", "llxprt-code/guard-is-hard-link/dead-owner",
			"The second lock has the first one's problem.", "openclaw-takeover/guarded",
		},
		{
			"Put the takeover under a second lock, and everything is safe.", "openclaw-takeover/guarded/crash",
			"Mutual exclusion is; but whoever is killed under the second lock leaves it, and nobody ever reclaims anything again.", "gofrs-flock/keep-file",
		},
		{
			"Clean the lock file up: unlink it after unlocking.", "gofrs-flock/unlink-after-unlock/contend",
			"A waiter has the old file open and locks it; the next contender creates a new one and locks that.", "gofrs-flock/keep-file",
		},
		{
			"Unlink it before unlocking.", "simpleflock/unlink-before-unlock/contend",
			"Whoever opened it before the unlink locks a file without a name, and looks at nothing.", "portalocker/verify-and-unlink-held",
		},
		{
			"After locking, check that the file is still at its name.", "portalocker/verify-only/contend",
			"That is half of it: as long as somebody removes the name without holding the lock, it may be removed right after the check.", "portalocker/verify-and-unlink-held",
		},
		{
			"Unlink the file only if a trial lock shows that nobody has it.", "agentwire/gated-unlink/contend",
			"The answer is of a moment ago: somebody may have locked the file since.", "agentwire/flock-only",
		},
		{
			"Release only if the file still has one's own token.", "vellum/release-checked/late-release",
			"Reading and removing are two calls; the lock may be taken over between them.", "vellum/release-by-fd",
		},
		{
			"Renew the lease by an atomic rename.", "carina/renew-by-rename/late-renewal",
			"The rename replaces the lock of whoever has taken over meanwhile.", "carina/renew-by-fd",
		},
		{
			"Let the lock expire, so that a crash wedges nobody.", "gateguard/lease-rmw/stall",
			"An owner that was only slow goes on beside its successor.", "gateguard/flock-rmw",
		},
		{
			"Steal the lock of a dead pid, so that a crash wedges nobody.", "codex-plugin/locked-rmw-steal/dead-owner",
			"Two who judge one dead owner steal from each other; the updates are lost again.", "gateguard/flock-rmw",
		},
		{
			"Give up after a timeout instead of waiting for ever.", "pytorch-baton/timeout/crash",
			"The timeout ends the waiting and not the wedge: nobody ever gets through.", "gofrs-flock/keep-file",
		},
		{
			"Write the state atomically, by a temporary file and a rename.", "codex-plugin/rename/writers",
			"Nobody sees half a file, and whoever read before overwrites what was added since.", "codex-plugin/locked-rmw",
		},
		{
			"Merge with what is on disk before saving.", "gateguard/merge-save/contend",
			"Reading again and writing are still two steps.", "gateguard/flock-rmw",
		},
		{
			"Take the lock around the write.", "kubeconfig/lock-in-write/writers",
			"What is written was read before the lock was taken.", "kubeconfig/lock-over-all",
		},
		{
			"Let all locks go when one is refused, and start over.", "conda-build/all-or-release/starve",
			"The deadlock becomes a livelock: two may refuse each other for ever.", "conda-build/in-one-order",
		},
		{
			"Ask whether the pid in the file is alive.", "gunicorn/check-then-rename/recycled-pid",
			"Pids are given out again; in a container they are small and come back soon.", "gunicorn/start-token",
		},
		{
			"Treat another host's lock as stale.", "instar/foreign-host-stale/two-hosts",
			"Two hosts that share the directory rob each other.", "gofrs-flock/keep-file",
		},
		{
			"The rename is atomic, so the file is safe after a power loss.", "write-file-atomic/no-fsync/start-after-loss",
			"The name may reach the disk before the data does.", "write-file-atomic/fsync-file-and-dir",
		},
		{
			"fcntl locks between processes are enough for the threads, too.", "fasteners/lockf/tasks",
			"A record lock belongs to the process: a second thread is granted it at once.", "rocksdb/table-then-open",
		},
		{
			"A lock whose time lies in the future is stale, too: the clock was set back.", "proper-lockfile/future-is-stale/set-back",
			"The lock of an owner at work lies in the future as well when the clock is set back.", "gofrs-flock/keep-file",
		},
		{
			"Hosts have clocks of their own, so take the lock's age from the file's time.", "mulmoclaude/file-time/reader-ahead",
			"The time is the disk's then, and what it is compared with still the reader's: a clock that is ahead finds a new lock old.", "mulmoclaude/file-clock",
		},
		{
			"With O_CLOEXEC the lock does not go to a child that runs another program.", "materialize/close-on-exec/fork",
			"The child has the descriptor until it runs that program; who does not wait for it may end before.", "materialize/close-on-exec",
		},
		{
			"A flag in memory keeps the threads apart: look at it, and set it.", "fasteners/flag/threads",
			"Both threads look before either sets it. A mutex, or a compare-and-swap, looks and sets in one step.", "fasteners/mutex",
		},
	}
}

// A Correction is where a report, a fix or a comment in the code was wrong.
type Correction struct {
	// System is whose, Said what was said or done, and Found what is so.
	System, Said, Found string
	// Rows are the scenarios that show it.
	Rows []string
}

// Corrections lists where reports and fixes were wrong.
func Corrections() []Correction {
	return []Correction{
		{"simpleflock", "The report proposes to delete the file before it is unlocked.", "That is broken as well.", []string{"simpleflock/unlink-before-unlock/contend"}},
		{"portalocker", "The fix has two halves, a check after locking and removal while held.",
			"Either half alone is broken; both together hold.",
			[]string{"portalocker/verify-only/contend", "simpleflock/unlink-before-unlock/contend",
				"portalocker/verify-and-unlink-held/contend"}},
		{"filelock", "Four versions of one takeover verify more and more after the rename.", "The rename is the fault, and two processes suffice.", []string{"filelock/soft-rename-aside/dead-owner", "filelock/soft-verify-mtime/dead-owner", "filelock/soft-verify-inode/dead-owner", "filelock/soft-private-name/dead-owner"}},
		{"npm-lockfile", "0.4.3 put the takeover under a second lock.", "The synchronous call was left as it was.", []string{"npm-lockfile/stale-guard/dead-owner", "npm-lockfile/lock-sync/dead-owner"}},
		{"libreport", "The report has a crashed owner and two contenders.", "No crash is needed: an orderly end suffices. The same is so of emacs, nightlyone/lockfile, PostgreSQL's file and itervox.", []string{"libreport/unlink-dead/exits", "nightlyone-lockfile/link-samefile/exits", "postgres/postmaster-pid/exits", "itervox/link-publish/exits"}},
		{"itervox", "The fix publishes a complete file by link(2).",
			"That cures the empty file and not the reclaim.",
			[]string{"itervox/empty-is-stale/contend", "itervox/link-publish/dead-owner"}},
		{"nix", "A comment fears a deadlock by upgrading.", "With flock(2) it cannot be, as the shared lock is dropped first; with OFD locks it can.", []string{"nix/upgrade-flock/contend", "nix/upgrade-ofd/contend"}},
		{"nix", "The holder unlinks the file and then marks it, so that waiters notice.", "It holds as long as nobody is killed between the two.", []string{"nix/unlink-then-mark/contend", "nix/unlink-then-mark/crash"}},
		{"kubeconfig", "Two merged fixes moved the lock.",
			"Both still lose updates, the second because an entry that is missing means \"delete\".",
			[]string{"kubeconfig/lock-in-write/writers",
				"kubeconfig/lock-in-modify/writers", "kubeconfig/lock-over-all/writers"}},
		{"pytorch-baton", "A timeout is to cure the endless wait.", "It ends the waiting and not the wedge.", []string{"pytorch-baton/timeout/crash"}},
		{"rubygems", "Users asked to clean the lock files up.", "Cleaning up broke a lock that held.", []string{"rubygems/keep-file/contend", "rubygems/cleanup-after-close/contend"}},
		{"remnic", "A live lock that was moved aside is renamed back.", "The rename back overwrites a third party's lock, and no call reports an error.", []string{"remnic/rename-back/pair", "remnic/rename-back/dead-owner"}},
		{"llxprt-code", "The takeover is guarded by a hard link to the lock.", "The guard has the lock's own text, so it looks abandoned whenever it is needed.", []string{"llxprt-code/guard-is-hard-link/dead-owner"}},
		{"codex-plugin", "Stale locks are stolen, lest a crash wedge the store.", "The stealing loses the updates again.", []string{"codex-plugin/locked-rmw/writers", "codex-plugin/locked-rmw-steal/dead-owner"}},
		{"conda-build", "Letting go of all locks is to cure the deadlock.", "It turns it into a livelock.", []string{"conda-build/each-blocking/contend", "conda-build/all-or-release/starve"}},
		{"filelock", "3.20.4 removes the file on release, to clean up.", "It broke a lock that held, as rubygems did; the file stays again.", []string{"filelock/unix-unlink-on-release/contend", "filelock/unix-keep-file/contend"}},
		{"hermit", "A comment says that a refused process never reads its own pid in the file, unless it has the lock.", "It does after an earlier hold of its own, until the next owner has written; both are inside then. No report is known.", []string{"hermit/keep-file/contend", "hermit/keep-file/twice", "hermit/empty-on-release/twice"}},
		{"agents-in-a-box", "A rename is winner-take-all: one winner of eight was counted, three times.", "Two contenders suffice for two winners; counting did not meet the schedule.", []string{"agents-in-a-box/unlink-dead/dead-owner", "agents-in-a-box/rename-dead/dead-owner"}},
		{"claude-remember", "No double holder was counted in 40 rounds with two contenders.",
			"Two contenders suffice, before the fix that reads back and after it.",
			[]string{"claude-remember/overwrite/dead-owner",
				"claude-remember/recreate-and-verify/dead-owner"}},
		{"prime-agent", "A stale directory is renamed aside, so that a live one is never touched.", "The live one is what is renamed.", []string{"prime-agent/remove-then-mkdir/dead-owner", "prime-agent/candidate-rename/dead-owner"}},
		{"proper-lockfile", "A fork claims a stale directory by a rename, and looks at its time.", "With three contenders two hold.", []string{"proper-lockfile/rmdir-mkdir/dead-owner", "proper-lockfile2/claim-by-rename/pair", "proper-lockfile2/claim-by-rename/dead-owner"}},
		{"factory-factory", "Two merged fixes: a second look at the inode; a claim that is linked back.",
			"Both are broken, the second with three contenders.",
			[]string{"factory-factory/same-inode/dead-owner",
				"factory-factory/claim-and-restore/pair", "factory-factory/claim-and-restore/dead-owner"}},
		{"compact-contracts, ihub", "Reviews propose to unlink and create, and to read back.", "Both proposals are broken with two processes.", []string{"compact-contracts/unlink-stale/dead-owner", "ihub/rename-read-back/contend"}},
		{"add-installer", "A comment says that a new lock has a new inode number.",
			"On ext4 it has the old one's, on tmpfs not; the fix, which asks for the age as well, holds there.",
			[]string{"add-installer/same-inode/dead-owner",
				"add-installer/same-inode/ext4", "add-installer/same-inode-and-age/ext4"}},
		{"gunicorn, instar, vm-bhyve", "Each has a rule for a leftover file: a living pid, a foreign host, an empty text.", "Each rule is wrong in one direction.", []string{"gunicorn/check-then-rename/recycled-pid", "instar/foreign-host-held/renamed-host", "instar/foreign-host-stale/two-hosts", "vm-bhyve/hostname-lock/power-loss"}},
		{"npm-cli-with-lock, openlock, zc-lockfile, nix, gofrs-flock", "No report is known of these.", "They are read from the sources, and none was reproduced with the original program.", []string{"npm-cli-with-lock/release-twice/contend", "openlock/replace-read-back/contend", "zc-lockfile/append-on-create/ask", "nix/unlink-then-mark/crash", "gofrs-flock/refused-upgrade/reader"}},
	}
}
