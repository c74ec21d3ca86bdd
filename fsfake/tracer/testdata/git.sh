# A repository, a commit, a branch.
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
export GIT_AUTHOR_DATE='1700000000 +0000' GIT_COMMITTER_DATE='1700000000 +0000'
git -c init.templateDir= init -q -b main .
git config user.name somebody && git config user.name
echo 1 > f && git add f && git commit -qm one && git log --format=%H,%s
git update-ref refs/heads/other HEAD && git branch
mkdir sub && cd sub && echo 2 > g && git add g && git status -s
git ls-files -s
cd .. && rm -rf .git/index .git/logs
