module karmada-policy-exporter/tests/bench/replay

go 1.26
