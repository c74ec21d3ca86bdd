# both.sh [go]: shows data and says so, side by side; with go, only then lets others go.
mv tmp data & mkdir ready & wait
[ -z "$1" ] || mv ready go
